import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { VendorHealths } from '../../marketplace/vendor-health.ts';

/** Lists the health of each vendor of the marketplace, by the probes of this server or, without probes, by agents' sales. */
export const playgroundVendors = route<{ vendorHealths: Pick<VendorHealths, 'list'> }>()({
  method: 'GET',
  path: '/v1/playground/vendors',
  credential: 'management',
  summary: 'How the vendors of the marketplace do',
  response: z.object({
    now: z.iso.datetime(),
    probes: z.boolean(),
    vendors: z.array(
      z.object({
        vendor: z.string(),
        name: z.string(),
        endpoint: z.string(),
        method: z.literal('POST'),
        priceUsdc: z.string(),
        costRaw: z.string().nullable(),
        status: z.enum(['ok', 'down', 'unknown']),
        responseExcerpt: z.string().nullable(),
        latencyMs: z.number().int().nullable(),
        checkedAt: z.iso.datetime().nullable(),
      }),
    ),
  }),

  async handle({ services }) {
    return ok(await services.vendorHealths.list());
  },
});
