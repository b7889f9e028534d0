import { ok, route } from '../../../http/route/route.ts';
import type { SessionLimit } from '../../../spend/limits/session-limit.ts';
import { ClearedSessionLimit } from '../../control-shape.ts';
import { ownScope } from '../../policy-shape.ts';

/** Removes the agent's session spend limit. Succeeds without a limit, too. */
export const clearOwnSpendLimit = route<{ sessionLimit: SessionLimit }>()({
  method: 'DELETE',
  path: '/v1/agents/spend-limit',
  credential: 'agent',
  rateLimit: 'control',
  summary: "Clear the calling agent's session limit",
  response: ClearedSessionLimit,

  async handle({ caller, services }) {
    return ok(await services.sessionLimit.clear(ownScope(caller)));
  },
});
