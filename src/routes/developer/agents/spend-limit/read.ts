import { ok, route } from '../../../../http/route/route.ts';
import type { SessionLimit } from '../../../../spend/limits/session-limit.ts';
import { SessionLimitView } from '../../../control-shape.ts';
import { agentScope } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Reads the limit of an agent's present session and the amount left under the limit. */
export const readAgentSpendLimit = route<{ sessionLimit: SessionLimit }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/spend-limit',
  credential: 'management',
  summary: "Read an agent's session limit",
  params: AgentParams,
  response: SessionLimitView,

  async handle({ caller, params, services }) {
    return ok(await services.sessionLimit.read(agentScope(caller, params)));
  },
});
