import { ok, route } from '../../../../http/route/route.ts';
import type { Policies } from '../../../../spend/policies/policies.ts';
import { AgentPolicyParams, agentScope, RevokedPolicy } from '../../../policy-shape.ts';

/** Revokes a policy for good. From the next call on it refuses nothing. */
export const revokeAgentPolicy = route<{ policies: Policies }>()({
  method: 'DELETE',
  path: '/v1/developer/agents/:agentId/policies/:policyId',
  credential: 'management',
  summary: "Revoke one of an agent's policies",
  params: AgentPolicyParams,
  response: RevokedPolicy,

  async handle({ caller, params, services }) {
    return ok(await services.policies.revoke(agentScope(caller, params), params.policyId));
  },
});
