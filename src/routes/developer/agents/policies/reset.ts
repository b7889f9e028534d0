import { ok, route } from '../../../../http/route/route.ts';
import type { Policies } from '../../../../spend/policies/policies.ts';
import { AgentPolicyParams, agentScope, OnePolicy } from '../../../policy-shape.ts';

/** Restarts the window of a rolling policy: earlier spending no longer counts. */
export const resetAgentPolicy = route<{ policies: Policies }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/policies/:policyId/reset',
  credential: 'management',
  summary: "Reset one of an agent's rolling policies",
  params: AgentPolicyParams,
  response: OnePolicy,

  async handle({ caller, params, services }) {
    const scope = agentScope(caller, params);
    return ok({ policy: await services.policies.reset(scope, params.policyId) });
  },
});
