import { readTeamCounters } from '../limits/counter-store.ts';
import { type ControlsDeps, timeOf } from '../policies/change-controls.ts';
import { usageOf, windowResetsAt } from '../policies/policy-record.ts';
import { findLivingPolicies } from '../policies/policy-store.ts';

export type AccountCaps = ReturnType<typeof createAccountCaps>;

/** Creates the reads of an account's cap and of the limits that new agents begin with. */
export function createAccountCaps(deps: Pick<ControlsDeps, 'sql' | 'now'>) {
  return {
    /** Returns the team's only living session policy, as the account's cap. */
    async accountCap(accountId: string) {
      const { nowMs, nowSec } = timeOf(deps);
      const owner = { accountId, agentId: null };
      const [policy] = await findLivingPolicies(deps.sql, owner, ['session'], nowSec);
      if (policy === undefined) return NO_CAP;
      const counter = (await readTeamCounters(deps.sql, [policy.id])).get(policy.id);
      return {
        configured: true,
        limitRaw: policy.limitRaw.toString(),
        spentRaw: usageOf(policy, counter, nowMs).spentRaw.toString(),
        windowKind: policy.window.kind,
        windowResetsAt: windowResetsAt(policy, counter, nowMs),
      };
    },

    /** Returns the limits of new agents: none. Other defaults cannot be set yet. */
    defaults: () =>
      ({ sessionLimitRaw: null, autoPauseEnabled: false, allowlistMode: 'off' }) as const,
  };
}

const NO_CAP = {
  configured: false,
  limitRaw: null,
  spentRaw: '0',
  windowKind: null,
  windowResetsAt: null,
} as const;
