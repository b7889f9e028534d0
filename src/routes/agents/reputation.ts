import { ok, route } from '../../http/route/route.ts';
import type { Reputations } from '../../reports/reputation/reputation.ts';
import { Reputation } from '../developer/agents/reputation-shape.ts';

/** Returns the calling agent's reputation. */
export const ownReputation = route<{ reputations: Reputations }>()({
  method: 'GET',
  path: '/v1/agents/reputation',
  credential: 'agent',
  summary: "The calling agent's reputation",
  admitsClosed: true,
  rateLimit: 'control',
  response: Reputation,

  async handle({ caller, services }) {
    return ok(await services.reputations.read(caller.accountId, caller.agentId));
  },
});
