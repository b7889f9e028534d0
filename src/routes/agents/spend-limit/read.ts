import { ok, route } from '../../../http/route/route.ts';
import type { SessionLimit } from '../../../spend/limits/session-limit.ts';
import { SessionLimitView } from '../../control-shape.ts';
import { ownScope } from '../../policy-shape.ts';

/** Reads the limit of the present session and the amount left under the limit. */
export const readOwnSpendLimit = route<{ sessionLimit: SessionLimit }>()({
  method: 'GET',
  path: '/v1/agents/spend-limit',
  credential: 'agent',
  summary: "Read the calling agent's session limit",
  response: SessionLimitView,

  async handle({ caller, services }) {
    return ok(await services.sessionLimit.read(ownScope(caller)));
  },
});
