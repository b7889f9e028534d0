import type { ZodType } from 'zod';
import type { Credential } from '../../http/route/caller.ts';
import { ok, route } from '../../http/route/route.ts';
import type { AgentSwitches } from '../../spend/limits/agent-switches.ts';
import { ModeBody, ModeSet } from '../control-shape.ts';
import { AGENT_CONTROLS, type ControlsPlace, OWN_CONTROLS } from './controls-place.ts';

type Services = { agentSwitches: AgentSwitches };

/** Routes for the dimensions in which the destination of an agent's paid call must be on the allowlist. */
function allowlistModeRoutes<C extends Credential, P extends ZodType | undefined>({
  base,
  changes,
  credential,
  params: shape,
  scopeOf,
  whose,
}: ControlsPlace<C, P>) {
  const place = { path: `${base}/allowlist-mode`, credential, params: shape } as const;
  return {
    read: route<Services>()({
      ...place,
      method: 'GET',
      summary: `Read ${whose} allowlist mode`,
      response: ModeBody,
      async handle({ caller, params, services }) {
        return ok(await services.agentSwitches.readMode(scopeOf({ caller, params })));
      },
    }),

    /** Sets the mode. Warns about a dimension without active entries. */
    set: route<Services>()({
      ...place,
      ...changes,
      method: 'PUT',
      summary: `Set ${whose} allowlist mode`,
      body: ModeBody,
      response: ModeSet,
      async handle({ caller, params, body, services }) {
        return ok(await services.agentSwitches.setMode(scopeOf({ caller, params }), body.mode));
      },
    }),
  };
}

export const ownAllowlistMode = allowlistModeRoutes(OWN_CONTROLS);
export const agentAllowlistMode = allowlistModeRoutes(AGENT_CONTROLS);
