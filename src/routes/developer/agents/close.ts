import type { Agents } from '../../../accounts/management/agents.ts';
import { ok, route } from '../../../http/route/route.ts';
import { AgentParams, ClosedAgent } from './agent-shape.ts';

/** Closes an agent for good and frees its slot and name. Closing it again changes nothing. */
export const closeAgent = route<{ agents: Agents }>()({
  method: 'POST',
  path: '/v1/developer/agents/:agentId/close',
  credential: 'management',
  summary: 'Close an agent',
  right: 'money_out',
  params: AgentParams,
  response: ClosedAgent,

  async handle({ caller, params, services }) {
    return ok(await services.agents.close(caller.accountId, params.agentId));
  },
});
