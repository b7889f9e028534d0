import { ok, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { ownScope, PolicyParams, RevokedPolicy } from '../../policy-shape.ts';

/** Revokes a policy for good. From the next call on it refuses nothing. */
export const revokeOwnPolicy = route<{ policies: Policies }>()({
  method: 'DELETE',
  path: '/v1/agents/policies/:policyId',
  credential: 'agent',
  rateLimit: 'control',
  summary: "Revoke one of the calling agent's policies",
  params: PolicyParams,
  response: RevokedPolicy,

  async handle({ caller, params, services }) {
    return ok(await services.policies.revoke(ownScope(caller), params.policyId));
  },
});
