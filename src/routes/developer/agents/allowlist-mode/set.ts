import { ok, route } from '../../../../http/route/route.ts';
import type { AgentSwitches } from '../../../../spend/limits/agent-switches.ts';
import { ModeBody, ModeSet } from '../../../control-shape.ts';
import { agentScope } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/**
 * Sets the dimensions in which a paid call's destination must be on the allowlist. Warns about a dimension without active
 * entries.
 */
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
