import { ok, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { OnePolicy, PolicyEditBody, PolicyParams, teamScope } from '../../policy-shape.ts';

/** Changes the limits of a policy. Absent members keep their values. */
export const changeTeamPolicy = route<{ policies: Policies }>()({
  method: 'PATCH',
  path: '/v1/developer/policies/:policyId',
  credential: 'management',
  summary: "Change one of a team's policies",
  params: PolicyParams,
  body: PolicyEditBody,
  response: OnePolicy,

  async handle({ caller, params, body, services }) {
    const scope = teamScope(caller);
    return ok({ policy: await services.policies.change(scope, params.policyId, body) });
  },
});
