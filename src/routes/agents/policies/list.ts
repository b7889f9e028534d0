import { ok, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { ManyPolicies, ownScope, PolicyQuery } from '../../policy-shape.ts';

/** Lists the calling agent's policies by id: the active policies and, if requested, the latest policies that are over. */
export const listOwnPolicies = route<{ policies: Policies }>()({
  method: 'GET',
  path: '/v1/agents/policies',
  credential: 'agent',
  summary: "List the calling agent's policies",
  query: PolicyQuery,
  response: ManyPolicies,

  async handle({ caller, query, services }) {
    const includePast = query.includeRevoked;
    return ok({ policies: await services.policies.list(ownScope(caller), { includePast }) });
  },
});
