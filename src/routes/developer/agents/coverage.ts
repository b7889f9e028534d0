import { ok, route } from '../../../http/route/route.ts';
import type { AccountReports } from '../../../reports/account/account-reports.ts';
import { clampDays } from '../../../reports/read-window.ts';
import { Coverage, CoverageQuery } from '../coverage-shape.ts';
import { AgentParams } from './agent-shape.ts';

/** Returns how much of the known spend of an agent a policy could have refused beforehand. */
export const agentCoverage = route<{ reports: AccountReports }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/coverage',
  credential: 'management',
  summary: "How much of an agent's spend is under control",
  params: AgentParams,
  query: CoverageQuery,
  response: Coverage,

  async handle({ caller, params, query, services }) {
    const days = clampDays(query.days);
    return ok(await services.reports.coverage(caller.accountId, days, params.agentId));
  },
});
