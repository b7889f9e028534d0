import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { AccountReports } from '../../reports/account/account-reports.ts';
import { PERIOD_NAMES } from '../../reports/account/spend-summary.ts';
import { readName } from '../../reports/read-window.ts';

/** Returns the calling agent's spend of the last 24 hours, 7 days or 30 days. */
export const spendSummary = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/agents/spend-summary',
  credential: 'agent',
  summary: "The calling agent's spend of the last day, week or month",
  admitsClosed: true,
  rateLimit: 'control',
  query: z.object({ period: z.string().optional() }),
  response: z.object({
    period: z.enum(PERIOD_NAMES),
    since: z.string(),
    until: z.string(),
    totalSpendRaw: z.string(),
    totalSpendUsdc: z.string(),
    successCount: z.number(),
    failedCount: z.number(),
  }),

  async handle({ caller, query, services }) {
    const period = readName('period', query.period, PERIOD_NAMES, 'day');
    return ok(await services.reports.spendSummary(caller.agentId, period));
  },
});
