import { ok, route } from '../../../../http/route/route.ts';
import type { Policies } from '../../../../spend/policies/policies.ts';
import { AgentPolicyParams, agentScope, OnePolicy, PolicyEditBody } from '../../../policy-shape.ts';

/** Changes the limits of a policy. Absent members keep their values. */
export const changeAgentPolicy = route<{ policies: Policies }>()({
  method: 'PATCH',
  path: '/v1/developer/agents/:agentId/policies/:policyId',
  credential: 'management',
  summary: "Change one of an agent's policies",
  params: AgentPolicyParams,
  body: PolicyEditBody,
  response: OnePolicy,

  async handle({ caller, params, body, services }) {
    const scope = agentScope(caller, params);
    return ok({ policy: await services.policies.change(scope, params.policyId, body) });
  },
});
