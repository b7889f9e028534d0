import { ok, route } from '../../../http/route/route.ts';
import type { AgentSwitches } from '../../../spend/limits/agent-switches.ts';
import { ModeBody } from '../../control-shape.ts';
import { ownScope } from '../../policy-shape.ts';

/** In which dimensions destinations of paid calls must be allowed. */
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
