import type { Agents } from '../../accounts/management/agents.ts';
import { ok, route } from '../../http/route/route.ts';
import { ClosedAgent } from '../developer/agents/agent-shape.ts';

/**
 * Closes the calling agent for good and returns its remaining money to its developer. A repeated request reports the state of
 * the closing.
 */
export const closeSelf = route<{ agents: Agents }>()({
  method: 'POST',
  path: '/v1/agents/close',
  credential: 'agent',
  summary: 'Close the calling agent',
  admitsClosed: true,
  admitsExpired: true,
  rateLimit: 'control',
  response: ClosedAgent,

  async handle({ caller, services }) {
    return ok(await services.agents.closeSelf(caller.agentId));
  },
});
