import { z } from 'zod';
import { ok, route } from '../../../http/route/route.ts';
import { type AccountReports, USAGE_WINDOWS } from '../../../reports/account/account-reports.ts';
import { readName } from '../../../reports/read-window.ts';
import { UsageSummary } from '../../developer/usage/usage-shape.ts';

/** Returns the calling agent's calls of the last days, how many failed, and how often a limit refused one. */
export const ownUsageSummary = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/agents/usage/summary',
  credential: 'agent',
  summary: 'Calls, failures and refusals of the calling agent',
  admitsClosed: true,
  rateLimit: 'control',
  query: z.object({ window: z.string().optional() }),
  response: UsageSummary,

  async handle({ caller, query, services }) {
    const window = readName('window', query.window, USAGE_WINDOWS, '7d');
    return ok(await services.reports.usageSummary(caller.accountId, window, caller.agentId));
  },
});
