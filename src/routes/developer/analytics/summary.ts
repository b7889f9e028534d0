import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import type { AccountReports } from '../../../reports/account/account-reports.ts';
import { ANALYTICS_WINDOWS } from '../../../reports/account/analytics.ts';
import { readName } from '../../../reports/read-window.ts';
import { RowId } from '../../row-id.ts';

const Latency = z.number().nullable();

/** Returns counts, volume and latency of a window, and the endpoints that cost most. */
export const analyticsSummary = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/developer/analytics/summary',
  credential: 'management',
  summary: 'Counts, volume and latency, and the endpoints that cost most',
  query: z.object({ window: z.string().optional(), agentId: RowId.optional() }),
  response: z.object({
    window: z.enum(ANALYTICS_WINDOWS),
    agents: z.number(),
    totals: z.object({
      x402: z.object({
        count: z.number(),
        volumeRaw: z.string(),
        successCount: z.number(),
        failedCount: z.number(),
        pendingCount: z.number(),
        p50LatencyMs: Latency,
        p95LatencyMs: Latency,
        p99LatencyMs: Latency,
      }),
    }),
    /** One point an hour for `24h`, otherwise one a UTC day. */
    timeSeries: z.array(z.object({ date: z.string(), count: z.number(), volumeRaw: z.string() })),
    topEndpoints: z.array(
      z.object({
        host: z.string(),
        count: z.number(),
        volumeRaw: z.string(),
        successRate: z.number(),
      }),
    ),
  }),

  async handle({ caller, query, services }) {
    const window = readName('window', query.window, ANALYTICS_WINDOWS, '24h');
    return ok(await services.reports.analytics(caller.accountId, window, query.agentId));
  },
});
