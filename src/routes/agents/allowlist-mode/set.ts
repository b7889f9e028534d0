import { ok, route } from '../../../http/route/route.ts';
import type { AgentSwitches } from '../../../spend/limits/agent-switches.ts';
import { ModeBody, ModeSet } from '../../control-shape.ts';
import { ownScope } from '../../policy-shape.ts';

/**
 * Sets the dimensions in which a paid call's destination must be on the allowlist. Warns about a dimension without active
 * entries.
 */
export const setOwnAllowlistMode = route<{ agentSwitches: AgentSwitches }>()({
  method: 'PUT',
  path: '/v1/agents/allowlist-mode',
  credential: 'agent',
  rateLimit: 'control',
  summary: "Set the calling agent's allowlist mode",
  body: ModeBody,
  response: ModeSet,

  async handle({ caller, body, services }) {
    return ok(await services.agentSwitches.setMode(ownScope(caller), body.mode));
  },
});
