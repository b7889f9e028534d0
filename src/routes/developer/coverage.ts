import { ok, route } from '../../http/route/route.ts';
import type { AccountReports } from '../../reports/account/account-reports.ts';
import { clampDays } from '../../reports/read-window.ts';
import { Coverage, CoverageQuery } from './coverage-shape.ts';

/** Returns how much of the known spend of all agents a policy could have refused beforehand. */
export const fleetCoverage = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/developer/coverage',
  credential: 'management',
  summary: 'How much of the spend of all agents is under control',
  query: CoverageQuery,
  response: Coverage,

  async handle({ caller, query, services }) {
    return ok(await services.reports.coverage(caller.accountId, clampDays(query.days)));
  },
});
