import { ok, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { ManyPolicies, PolicyQuery, teamScope } from '../../policy-shape.ts';

/** Lists a team's policies by id: the active policies and, if requested, the latest policies that are over. */
export const listTeamPolicies = route<{ policies: Policies }>()({
  method: 'GET',
  path: '/v1/developer/policies',
  credential: 'management',
  summary: "List a team's policies",
  query: PolicyQuery,
  response: ManyPolicies,

  async handle({ caller, query, services }) {
    const includePast = query.includeRevoked;
    return ok({ policies: await services.policies.list(teamScope(caller), { includePast }) });
  },
});
