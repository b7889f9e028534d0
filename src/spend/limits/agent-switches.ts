import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { assert } from '../../kernel/assert.ts';
import type { AllowlistMode } from '../../policy/allowlist.ts';
import { isEffective } from '../../policy/policy.ts';
import { gatesOf } from '../../policy/tightens.ts';
import {
  type AgentScope,
  type Change,
  type ControlsDeps,
  changeControls,
} from '../policies/change-controls.ts';
import { findLivingPolicies, readControls, saveLock, saveMode } from '../policies/policy-store.ts';

export type AgentSwitches = ReturnType<typeof createAgentSwitches>;

const DIMENSION = { api: 'host', vendor: 'vendor' } as const;

/**
 * Creates the reads and changes of an agent's allowlist mode and of the lock that keeps its own keys from loosening
 * controls.
 */
export function createAgentSwitches(deps: ControlsDeps) {
  async function controlsOf(scope: AgentScope) {
    await requireAgent(deps.sql, scope);
    const controls = await readControls(deps.sql, scope.agentId);
    assert(controls !== undefined, 'agents are never deleted');
    return controls;
  }

  return {
    async readMode(scope: AgentScope) {
      return { mode: (await controlsOf(scope)).mode };
    },

    /**
     * Sets the allowlist mode. Warns about dimensions of the mode without an active entry, in which every payment is refused.
     */
    async setMode(scope: AgentScope, mode: AllowlistMode) {
      return changeControls(deps, scope, async (change) => {
        change.permit({ kind: 'mode', before: change.controls.mode, after: mode });
        await saveMode(change.tx, scope.agentId, mode);
        const dimensions = await closedDimensions(change, scope, mode);
        if (dimensions.length === 0) return { mode };
        return { mode, warning: { code: 'no_active_entries', dimensions } as const };
      });
    },

    async readLock(scope: AgentScope) {
      return { locked: (await controlsOf(scope)).locked };
    },

    async setLock(scope: AgentScope, locked: boolean) {
      return changeControls(deps, scope, async ({ tx }) => {
        await saveLock(tx, scope.agentId, locked);
        return { locked };
      });
    },
  };
}

/** Returns the dimensions of the mode in which neither the agent nor its team has an active entry now. */
async function closedDimensions(
  { tx, nowSec }: Change,
  scope: AgentScope,
  mode: AllowlistMode,
): Promise<('host' | 'vendor')[]> {
  const gates = gatesOf(mode);
  const team = { accountId: scope.accountId, agentId: null };
  const entries = [
    ...(await findLivingPolicies(tx, scope, gates, nowSec)),
    ...(await findLivingPolicies(tx, team, gates, nowSec)),
  ].filter((policy) => isEffective(policy, nowSec));
  return gates
    .filter((gate) => !entries.some(({ kind }) => kind === gate))
    .map((gate) => DIMENSION[gate]);
}
