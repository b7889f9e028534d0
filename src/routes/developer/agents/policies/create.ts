import { created, route } from '../../../../http/route/route.ts';
import type { Policies } from '../../../../spend/policies/policies.ts';
import { agentScope, OnePolicy, PolicyBody } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Creates a cap. Money that was spent or held in its window before counts under it at once. */
export const createAgentPolicy = route<{ policies: Policies }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/policies',
  credential: 'management',
  summary: "Create one of an agent's policies",
  params: AgentParams,
  body: PolicyBody,
  status: 201,
  response: OnePolicy,

  async handle({ caller, params, body, services }) {
    return created({ policy: await services.policies.create(agentScope(caller, params), body) });
  },
});
