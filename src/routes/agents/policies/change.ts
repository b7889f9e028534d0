import { ok, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { OnePolicy, ownScope, PolicyEditBody, PolicyParams } from '../../policy-shape.ts';

/** Changes the limits of a policy. Absent members keep their values. */
export const changeOwnPolicy = route<{ policies: Policies }>()({
  method: 'PATCH',
  path: '/v1/agents/policies/:policyId',
  credential: 'agent',
  rateLimit: 'control',
  summary: "Change one of the calling agent's policies",
  params: PolicyParams,
  body: PolicyEditBody,
  response: OnePolicy,

  async handle({ caller, params, body, services }) {
    const scope = ownScope(caller);
    return ok({ policy: await services.policies.change(scope, params.policyId, body) });
  },
});
