import { ok, route } from '../../../../http/route/route.ts';
import type { AgentSwitches } from '../../../../spend/limits/agent-switches.ts';
import { Lock } from '../../../control-shape.ts';
import { agentScope } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Sets or removes the self-service lock. While it is set, the agent's own keys may only tighten the agent's controls. */
export const setSelfServiceLock = route<{ agentSwitches: AgentSwitches }>()({
  method: 'PUT',
  path: '/v1/developer/agents/:agentId/self-service-lock',
  credential: 'management',
  summary: "Lock or unlock an agent's self-service",
  params: AgentParams,
  body: Lock,
  response: Lock,

  async handle({ caller, params, body, services }) {
    return ok(await services.agentSwitches.setLock(agentScope(caller, params), body.locked));
  },
});
