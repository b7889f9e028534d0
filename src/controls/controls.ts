import { createAccountCaps } from './account-caps.ts';
import { createAgentSwitches } from './agent-switches.ts';
import type { ControlsDeps } from './change-controls.ts';
import { createPolicies } from './policies.ts';
import { createPreBorrow } from './pre-borrow.ts';
import { createSessionLimit } from './session-limit.ts';

/** Everything by which spending is limited, as the routes ask for it. */
export const createControls = (deps: ControlsDeps) => ({
  policies: createPolicies(deps),
  sessionLimit: createSessionLimit(deps),
  agentSwitches: createAgentSwitches(deps),
  preBorrow: createPreBorrow(deps),
  accountCaps: createAccountCaps(deps),
});
