import type { Agents } from '../../accounts/management/agents.ts';
import { ok, route } from '../../http/route/route.ts';
import { ClosedAgent } from '../developer/agents/agent-shape.ts';

/** The agent closes itself for good, and its developer gets what is left. Closing again reports the state of that. */
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
