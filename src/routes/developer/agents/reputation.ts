import { ok, route } from '../../../http/route/route.ts';
import type { Reputations } from '../../../reports/reputation/reputation.ts';
import { AgentParams } from './agent-shape.ts';
import { Reputation } from './reputation-shape.ts';

/** Returns the reputation of an agent. */
export const agentReputation = route<{ reputations: Reputations }>()({
  method: 'GET',
  path: '/v1/developer/agents/:agentId/reputation',
  credential: 'management',
  summary: "An agent's reputation",
  params: AgentParams,
  response: Reputation,

  async handle({ caller, params, services }) {
    return ok(await services.reputations.read(caller.accountId, params.agentId));
  },
});
