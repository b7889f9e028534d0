import { z } from 'zod';
import { ok, route } from '../http/route/route.ts';

const Token = z.object({ address: z.string(), symbol: z.string(), decimals: z.number().int() });

/** Lists the lending markets: an empty list until a matcher contract is configured. */
export const markets = route()({
  method: 'GET',
  path: '/v1/markets',
  credential: 'none',
  summary: 'The active lending markets',
  response: z.object({
    markets: z.array(
      z.object({
        marketId: z.string(),
        loanToken: Token,
        collateralToken: Token,
        isActive: z.boolean(),
        offerCount: z.number().int(),
      }),
    ),
  }),

  handle: () => ok({ markets: [] }),
});
