import type { ZodType } from 'zod';
import type { Credential } from '../../http/route/caller.ts';
import { ok, route } from '../../http/route/route.ts';
import type { SessionLimit } from '../../spend/limits/session-limit.ts';
import {
  ActiveSessionLimit,
  ClearedSessionLimit,
  SessionLimitBody,
  SessionLimitView,
} from '../control-shape.ts';
import { AGENT_CONTROLS, type ControlsPlace, OWN_CONTROLS } from './controls-place.ts';

type Services = { sessionLimit: SessionLimit };

/** Routes for the session spend limit of an agent. */
function spendLimitRoutes<C extends Credential, P extends ZodType | undefined>({
  base,
  changes,
  credential,
  params: shape,
  scopeOf,
  whose,
}: ControlsPlace<C, P>) {
  const place = { path: `${base}/spend-limit`, credential, params: shape } as const;
  return {
    /** Reads the limit of the present session and the amount left under the limit. */
    read: route<Services>()({
      ...place,
      method: 'GET',
      summary: `Read ${whose} session limit`,
      response: SessionLimitView,
      async handle({ caller, params, services }) {
        return ok(await services.sessionLimit.read(scopeOf({ caller, params })));
      },
    }),

    /** Sets the limit and begins a new session: earlier spending no longer counts. */
    set: route<Services>()({
      ...place,
      ...changes,
      method: 'PUT',
      summary: `Set ${whose} session limit`,
      body: SessionLimitBody,
      response: ActiveSessionLimit,
      async handle({ caller, params, body, services }) {
        return ok(await services.sessionLimit.set(scopeOf({ caller, params }), body.limitRaw));
      },
    }),

    /** Removes the limit. Succeeds without a limit, too. */
    clear: route<Services>()({
      ...place,
      ...changes,
      method: 'DELETE',
      summary: `Clear ${whose} session limit`,
      response: ClearedSessionLimit,
      async handle({ caller, params, services }) {
        return ok(await services.sessionLimit.clear(scopeOf({ caller, params })));
      },
    }),
  };
}

export const ownSpendLimit = spendLimitRoutes(OWN_CONTROLS);
export const agentSpendLimit = spendLimitRoutes(AGENT_CONTROLS);
