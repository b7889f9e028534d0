import { ok, route } from '../../../../http/route/route.ts';
import type { SessionLimit } from '../../../../spend/limits/session-limit.ts';
import { ActiveSessionLimit, SessionLimitBody } from '../../../control-shape.ts';
import { agentScope } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Sets the agent's session spend limit and begins a new session: earlier spending no longer counts. */
export const setAgentSpendLimit = route<{ sessionLimit: SessionLimit }>()({
  method: 'PUT',
  path: '/v1/developer/agents/:agentId/spend-limit',
  credential: 'management',
  summary: "Set an agent's session limit",
  params: AgentParams,
  body: SessionLimitBody,
  response: ActiveSessionLimit,

  async handle({ caller, params, body, services }) {
    return ok(await services.sessionLimit.set(agentScope(caller, params), body.limitRaw));
  },
});
