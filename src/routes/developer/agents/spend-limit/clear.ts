import { ok, route } from '../../../../http/route/route.ts';
import type { SessionLimit } from '../../../../spend/limits/session-limit.ts';
import { ClearedSessionLimit } from '../../../control-shape.ts';
import { agentScope } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Removes the agent's session spend limit. Succeeds without a limit, too. */
export const clearAgentSpendLimit = route<{ sessionLimit: SessionLimit }>()({
  method: 'DELETE',
  path: '/v1/developer/agents/:agentId/spend-limit',
  credential: 'management',
  summary: "Clear an agent's session limit",
  params: AgentParams,
  response: ClearedSessionLimit,

  async handle({ caller, params, services }) {
    return ok(await services.sessionLimit.clear(agentScope(caller, params)));
  },
});
