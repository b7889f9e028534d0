import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import { readSpender } from '../../models/purchase/read-spender.ts';
import type { Prices } from '../../payments/quotes/prices.ts';
import { PricedUnit, TargetBody, TargetMethod, TargetUrl } from '../target-shape.ts';

const Asked = z.object({ url: z.string(), method: z.string() });
const Freshness = z.object({ cached: z.boolean(), fetchedAt: z.string() });

const Reflection = z.object({
  available: z.string(),
  headroomToAutoBorrow: z.string(),
  sessionSpendRemaining: z.string().nullable(),
  willExceedAvailable: z.boolean(),
  willExceedHeadroom: z.boolean(),
  willExceedSpendLimit: z.boolean(),
});

/** Returns the cost of one call through the proxy, beside the amounts that the agent may spend. Nothing is paid. */
export const estimateX402 = route<{ prices: Prices }>()({
  method: 'POST',
  path: '/v1/x402/estimate',
  credential: 'agent',
  summary: 'What a call through the proxy would cost',
  permission: 'read',
  rateLimit: 'ip',
  body: z.object({ url: TargetUrl, method: TargetMethod, body: TargetBody }),
  response: z.union([
    z.object({
      ...Asked.shape,
      x402: z.literal(true),
      priceRaw: z.string(),
      asset: z.string(),
      network: z.string(),
      payTo: z.string(),
      scheme: z.string(),
      /** Quantity and unit of a marketplace price. Absent: the price is for this one call. */
      per: PricedUnit.optional(),
      ...Freshness.shape,
      reflection: Reflection,
    }),
    z.object({ ...Asked.shape, x402: z.literal(false), ...Freshness.shape }),
  ]),

  async handle({ body, caller, headers, services }) {
    return ok(await services.prices.estimate(readSpender(caller, headers), body));
  },
});
