import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';

/** Tells how USDC is bought here: on the page of the provider, which asks for the country itself. */
export const onrampGeo = route()({
  method: 'GET',
  path: '/v1/onramp/geo',
  credential: 'management',
  summary: 'How USDC can be bought',
  response: z.object({ country: z.string().nullable(), mode: z.enum(['hosted', 'headless']) }),

  handle() {
    return ok({ country: null, mode: 'hosted' });
  },
});
