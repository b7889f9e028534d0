import { ok, route } from '../../../http/route/route.ts';
import type { SessionLimit } from '../../../spend/limits/session-limit.ts';
import { ActiveSessionLimit, SessionLimitBody } from '../../control-shape.ts';
import { ownScope } from '../../policy-shape.ts';

/** Sets the agent's session spend limit and begins a new session: earlier spending no longer counts. */
export const setOwnSpendLimit = route<{ sessionLimit: SessionLimit }>()({
  method: 'PUT',
  path: '/v1/agents/spend-limit',
  credential: 'agent',
  rateLimit: 'control',
  summary: "Set the calling agent's session limit",
  body: SessionLimitBody,
  response: ActiveSessionLimit,

  async handle({ caller, body, services }) {
    return ok(await services.sessionLimit.set(ownScope(caller), body.limitRaw));
  },
});
