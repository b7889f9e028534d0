import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { AccountReports } from '../../reports/account/account-reports.ts';
import { readDays } from '../../reports/read-window.ts';
import { RowId } from '../row-id.ts';

/** Returns the spend of each of the last UTC days, and the vendors that cost most. */
export const spendSeries = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/developer/spend-series',
  credential: 'management',
  summary: 'Spend by day and by vendor',
  query: z.object({ days: z.string().optional(), agentId: RowId.optional() }),
  response: z.object({
    days: z.number(),
    series: z.array(z.object({ date: z.string(), totalRaw: z.string() })),
    byVendor: z.array(z.object({ host: z.string(), totalRaw: z.string() })),
    totals: z.object({ requests: z.number(), declined: z.number(), totalRaw: z.string() }),
  }),

  async handle({ caller, query, services }) {
    const days = readDays(query.days);
    return ok(await services.reports.spendSeries(caller.accountId, days, query.agentId));
  },
});
