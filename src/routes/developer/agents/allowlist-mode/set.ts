import { ok, route } from '../../../../http/route/route.ts';
import type { AgentSwitches } from '../../../../spend/limits/agent-switches.ts';
import { ModeBody, ModeSet } from '../../../control-shape.ts';
import { agentScope } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Says in which dimensions destinations must be allowed, and warns where none is. */
export const setAgentAllowlistMode = route<{ agentSwitches: AgentSwitches }>()({
  method: 'PUT',
  path: '/v1/developer/agents/:agentId/allowlist-mode',
  credential: 'management',
  summary: "Set an agent's allowlist mode",
  params: AgentParams,
  body: ModeBody,
  response: ModeSet,

  async handle({ caller, params, body, services }) {
    return ok(await services.agentSwitches.setMode(agentScope(caller, params), body.mode));
  },
});
