import { ok, route } from '../../http/route/route.ts';
import type { AccountReports } from '../../reports/account/account-reports.ts';
import { clampDays } from '../../reports/read-window.ts';
import { Coverage, CoverageQuery } from '../developer/coverage-shape.ts';

/** Returns how much of the calling agent's known spend a policy could have refused beforehand. */
export const ownCoverage = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/agents/coverage',
  credential: 'agent',
  summary: "How much of the calling agent's spend is under control",
  admitsClosed: true,
  rateLimit: 'control',
  query: CoverageQuery,
  response: Coverage,

  async handle({ caller, query, services }) {
    const days = clampDays(query.days);
    return ok(await services.reports.coverage(caller.accountId, days, caller.agentId));
  },
});
