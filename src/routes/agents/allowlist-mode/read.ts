import { ok, route } from '../../../http/route/route.ts';
import type { AgentSwitches } from '../../../spend/limits/agent-switches.ts';
import { ModeBody } from '../../control-shape.ts';
import { ownScope } from '../../policy-shape.ts';

/** Returns the dimensions in which a paid call's destination must be on the allowlist. */
export const readOwnAllowlistMode = route<{ agentSwitches: AgentSwitches }>()({
  method: 'GET',
  path: '/v1/agents/allowlist-mode',
  credential: 'agent',
  summary: "Read the calling agent's allowlist mode",
  response: ModeBody,

  async handle({ caller, services }) {
    return ok(await services.agentSwitches.readMode(ownScope(caller)));
  },
});
