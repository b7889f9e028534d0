import { ok, route } from '../../../../http/route/route.ts';
import type { Policies } from '../../../../spend/policies/policies.ts';
import { agentScope, ManyPolicies, PolicyQuery } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Lists an agent's policies by id: the active policies and, if requested, the latest policies that are over. */
export const listAgentPolicies = route<{ policies: Policies }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/policies',
  credential: 'management',
  summary: "List an agent's policies",
  params: AgentParams,
  query: PolicyQuery,
  response: ManyPolicies,

  async handle({ caller, params, query, services }) {
    const includePast = query.includeRevoked;
    return ok({
      policies: await services.policies.list(agentScope(caller, params), { includePast }),
    });
  },
});
