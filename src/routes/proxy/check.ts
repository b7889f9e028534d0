import { z } from 'zod';
import { networkOf } from '../../http/route/client-address.ts';
import { ok, route } from '../../http/route/route.ts';
import { abortSignalOf } from '../../kernel/stop-signal.ts';
import type { Prices } from '../../payments/quotes/prices.ts';
import { TargetUrl } from '../target-shape.ts';

const Payment = z.object({
  amount: z.string(),
  asset: z.string(),
  payTo: z.string(),
  network: z.string(),
  scheme: z.string(),
  maxTimeoutSeconds: z.number().int().nullable(),
  description: z.string().nullable(),
});

/** Asks a target by a plain GET for the payment that it demands, if any. No credential is needed. */
export const proxyCheck = route<{ prices: Prices }>()({
  method: 'GET',
  path: '/v1/proxy/check',
  credential: 'none',
  summary: 'Whether a target demands a payment',
  rateLimit: 'ip',
  query: z.object({ url: TargetUrl }),
  response: z.union([
    z.object({
      x402: z.literal(true),
      status: z.literal(402),
      x402Version: z.union([z.literal(1), z.literal(2)]),
      payment: Payment,
    }),
    z.object({ x402: z.literal(false), status: z.number().int(), message: z.string() }),
  ]),

  async handle({ clientAddress, query, services, signal }) {
    const network = networkOf(clientAddress);
    return ok(await services.prices.check(query.url, network, abortSignalOf(signal)));
  },
});
