import { createAccountCaps } from '../awareness/account-caps.ts';
import { createAgentSwitches } from '../limits/agent-switches.ts';
import { createPreBorrow } from '../limits/pre-borrow.ts';
import { createSessionLimit } from '../limits/session-limit.ts';
import type { ControlsDeps } from './change-controls.ts';
import { createPolicies } from './policies.ts';

/** Creates all controls that limit spending, in the groups of the routes. */
export const createControls = (deps: ControlsDeps) => ({
  policies: createPolicies(deps),
  sessionLimit: createSessionLimit(deps),
  agentSwitches: createAgentSwitches(deps),
  preBorrow: createPreBorrow(deps),
  accountCaps: createAccountCaps(deps),
});
