import { z } from 'zod';
import { route } from '../http/route/route.ts';
import type { HealthChecks } from '../http/server/health-checks.ts';

const Check = z.object({
  status: z.enum(['ok', 'degraded', 'down', 'skipped']),
  latency_ms: z.number().int().optional(),
  reason: z.string().optional(),
});

/** Reports whether the server is alive. A degraded server still answers 200; only without its database does it answer 503. */
export const health = route<{ health: HealthChecks }>()({
  method: 'GET',
  path: '/v1/health',
  credential: 'none',
  summary: 'Whether this server and what it needs are well',
  response: z.object({
    status: z.enum(['ok', 'degraded']),
    checks: z.object({ db: Check, managed_wallet: Check, indexer: Check }),
    timestamp: z.string(),
  }),

  async handle({ services }) {
    const report = await services.health.report();
    return { status: report.checks.db.status === 'down' ? 503 : 200, body: report, headers: {} };
  },
});
