import { ok, route } from '../../../http/route/route.ts';
import type { Policies } from '../../../spend/policies/policies.ts';
import { PolicyParams, RevokedPolicy, teamScope } from '../../policy-shape.ts';

/** Revokes a policy for good. From the next call on it refuses nothing. */
export const revokeTeamPolicy = route<{ policies: Policies }>()({
  method: 'DELETE',
  path: '/v1/developer/policies/:policyId',
  credential: 'management',
  summary: "Revoke one of a team's policies",
  params: PolicyParams,
  response: RevokedPolicy,

  async handle({ caller, params, services }) {
    return ok(await services.policies.revoke(teamScope(caller), params.policyId));
  },
});
