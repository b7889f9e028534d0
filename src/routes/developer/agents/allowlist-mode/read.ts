import { ok, route } from '../../../../http/route/route.ts';
import type { AgentSwitches } from '../../../../spend/limits/agent-switches.ts';
import { ModeBody } from '../../../control-shape.ts';
import { agentScope } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Returns the dimensions in which a paid call's destination must be on the allowlist. */
export const readAgentAllowlistMode = route<{ agentSwitches: AgentSwitches }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/allowlist-mode',
  credential: 'management',
  summary: "Read an agent's allowlist mode",
  params: AgentParams,
  response: ModeBody,

  async handle({ caller, params, services }) {
    return ok(await services.agentSwitches.readMode(agentScope(caller, params)));
  },
});
