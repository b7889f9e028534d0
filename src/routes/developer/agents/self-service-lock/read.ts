import { ok, route } from '../../../../http/route/route.ts';
import type { AgentSwitches } from '../../../../spend/limits/agent-switches.ts';
import { Lock } from '../../../control-shape.ts';
import { agentScope } from '../../../policy-shape.ts';
import { AgentParams } from '../agent-shape.ts';

/** Reads the lock that lets the agent's own keys only tighten its controls. */
export const readSelfServiceLock = route<{ agentSwitches: AgentSwitches }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/self-service-lock',
  credential: 'management',
  summary: "Read an agent's self-service lock",
  params: AgentParams,
  response: Lock,

  async handle({ caller, params, services }) {
    return ok(await services.agentSwitches.readLock(agentScope(caller, params)));
  },
});
