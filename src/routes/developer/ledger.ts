import { z } from 'zod';
import { ok, route } from '../../http/route/route.ts';
import type { AccountReports } from '../../reports/account/account-reports.ts';
import { readGroupBy } from '../../reports/account/grouped-ledger.ts';
import { clampDays } from '../../reports/read-window.ts';
import { RowId } from '../row-id.ts';

/** Returns the known spend of the last UTC days by source, customer, task (`campaign`) or agent. */
export const groupedLedger = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/developer/ledger',
  credential: 'management',
  summary: 'Spend by source, customer, task or agent',
  query: z.object({
    groupBy: z.string().default('source'),
    days: z.string().optional(),
    agentId: RowId.optional(),
  }),
  response: z.object({
    days: z.number(),
    groupBy: z.string(),
    totalRaw: z.string(),
    rows: z.array(
      z.object({
        key: z.string(),
        /** False for the sums of calls without a tag, and of the rows that are not listed. */
        tagged: z.boolean(),
        calls: z.number(),
        costRaw: z.string(),
        reconciledRaw: z.string(),
      }),
    ),
  }),

  async handle({ caller, query, services }) {
    const groupBy = readGroupBy(query.groupBy);
    const days = clampDays(query.days);
    return ok(await services.reports.ledger(caller.accountId, groupBy, days, query.agentId));
  },
});
