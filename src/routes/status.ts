import { z } from 'zod';
import { ok, route } from '../http/route/route.ts';
import type { StatusBoard } from '../http/server/public-status.ts';

const Part = z.enum(['operational', 'degraded', 'down']);

/** Reads the state of this server for a status page. While the circuit breaker is active every paid call is refused. */
export const status = route<{ status: StatusBoard }>()({
  method: 'GET',
  path: '/v1/status',
  credential: 'none',
  summary: 'How this server is, and whether paid calls may go out',
  response: z.object({
    timestamp: z.string(),
    overall: Part,
    indexer: z.object({
      status: Part,
      lastUpdateTimestamp: z.number().int().nullable(),
      lagSeconds: z.number().int().nullable(),
    }),
    oracle: z.object({
      status: Part,
      circuitBreaker: z.object({
        isActive: z.boolean(),
        reason: z.number().int(),
        reasonText: z.string(),
      }),
      prices: z.array(z.object({ symbol: z.string(), priceUsd: z.string(), isStale: z.boolean() })),
    }),
    markets: z.array(
      z.object({
        marketId: z.string(),
        loanToken: z.string(),
        collateralToken: z.string(),
        availableLiquidityUsd: z.string(),
        totalTvlUsd: z.string(),
        activeLoanCount: z.number().int(),
      }),
    ),
    activity: z.object({
      matchesLast24h: z.number().int(),
      totalMatches: z.number().int(),
      avgTimeToMatchSeconds: z.number().nullable(),
    }),
  }),

  handle: async ({ services }) => ok(await services.status.read()),
});
