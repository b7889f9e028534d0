import { ok, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { OnePolicy, ownScope, PolicyParams } from '../../policy-shape.ts';

/** Restarts the window of a rolling policy: earlier spending no longer counts. */
export const resetOwnPolicy = route<{ policies: Policies }>()({
  method: 'POST',
  path: '/v1/agents/policies/:policyId/reset',
  credential: 'agent',
  rateLimit: 'control',
  summary: "Reset one of the calling agent's rolling policies",
  params: PolicyParams,
  response: OnePolicy,

  async handle({ caller, params, services }) {
    const scope = ownScope(caller);
    return ok({ policy: await services.policies.reset(scope, params.policyId) });
  },
});
