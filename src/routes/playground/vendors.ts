import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { VendorHealths } from '../../marketplace/vendor-health.ts';

/** How each vendor of the marketplace did when this server tried it last. */
export const playgroundVendors = route<{ vendorHealths: Pick<VendorHealths, 'list'> }>()({
  method: 'GET',
  path: '/v1/playground/vendors',
  credential: 'management',
  summary: 'How the vendors of the marketplace do',
  response: z.object({
    now: z.iso.datetime(),
    vendors: z.array(
      z.object({
        vendor: z.string(),
        name: z.string(),
        endpoint: z.string(),
        method: z.literal('POST'),
        priceUsdc: z.string(),
        costRaw: z.string().nullable(),
        status: z.enum(['ok', 'down']),
        responseExcerpt: z.string().nullable(),
        latencyMs: z.number().int().nullable(),
        checkedAt: z.iso.datetime(),
      }),
    ),
  }),

  async handle({ services }) {
    return ok(await services.vendorHealths.list());
  },
});
