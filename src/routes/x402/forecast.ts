import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { readSpender } from '../../models/purchase/read-spender.ts';
import { PAYMENT_LIMITS } from '../../payments/limits.ts';
import type { Prices } from '../../payments/quotes/prices.ts';
import { PricedUnit, TargetBody, TargetMethod, TargetUrl } from '../target-shape.ts';
import { TaskId } from '../task-id.ts';

const Item = z.object({
  url: TargetUrl,
  method: TargetMethod,
  body: TargetBody,
  count: z
    .number()
    .int()
    .min(1)
    .max(PAYMENT_LIMITS.forecast.count)
    .nullish()
    .transform((count) => count ?? 1),
  taskId: TaskId.nullish().transform((taskId) => taskId ?? undefined),
});

const Breach = z.object({
  itemIndex: z.number().int(),
  policyId: z.number().int().nullable(),
  kind: z.string(),
  matchKey: z.string().nullable(),
  label: z.string().nullable(),
  limitRaw: z.string(),
  projectedSpentRaw: z.string(),
  reason: z.string(),
});

const Forecast = z.object({
  totalRaw: z.string(),
  currency: z.string(),
  decimals: z.number().int(),
  items: z.array(
    z.object({
      index: z.number().int(),
      url: z.string(),
      method: z.string(),
      count: z.number().int(),
      x402: z.boolean().nullable(),
      priceRaw: z.string().nullable(),
      subtotalRaw: z.string().nullable(),
      per: PricedUnit.optional(),
      error: z.string().optional(),
      detail: z.string().optional(),
    }),
  ),
  reflection: z.object({
    available: z.string(),
    willExceedAvailable: z.boolean(),
    willExceedSpendLimit: z.boolean(),
  }),
});

/** Returns the cost of many calls through the proxy together, and the caps that would stop them. Nothing is paid. */
export const forecastX402 = route<{ prices: Prices }>()({
  method: 'POST',
  path: '/v1/x402/forecast',
  credential: 'agent',
  summary: 'What many calls through the proxy would cost',
  permission: 'read',
  rateLimit: 'ip',
  body: z.object({ items: z.array(Item).min(1).max(PAYMENT_LIMITS.forecast.items) }),
  response: z.object({
    forecast: Forecast,
    policyPreflight: z.object({ ok: z.boolean(), breaches: z.array(Breach) }),
  }),

  async handle({ body, caller, headers, services }) {
    return ok(await services.prices.forecast(readSpender(caller, headers), body.items));
  },
});
