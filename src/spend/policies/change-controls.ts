import { requireAgent } from '../../accounts/agents/require-agent.ts';
import { credentialErrors } from '../../accounts/errors.ts';
import type { Invalidations } from '../../accounts/keys/invalidations.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { type ControlChange, tightens } from '../../policy/tightens.ts';
import type { History, PolicyOwner } from '../awareness/history-store.ts';
import { controlErrors } from '../errors.ts';
import type { AgentControls } from './policy-request.ts';
import { readControls } from './policy-store.ts';

export type ControlsDeps = {
  readonly sql: Sql;
  readonly invalidations: Invalidations;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
};

/** The agent whose controls are changed, and the caller: its developer, or a key of the agent. */
export type AgentScope = {
  readonly accountId: string;
  readonly agentId: number;
  readonly by: 'developer' | 'agent';
};

/** An agent's controls, or the controls that all agents of a developer share. */
export type ControlsScope =
  | AgentScope
  | (PolicyOwner & { readonly agentId: null; readonly by: 'developer' });

/** Context of one change. Every check uses the same instant. */
export type Change = {
  readonly tx: Queryable;
  readonly nowMs: number;
  readonly nowSec: number;
  /** Controls of the agent. A team has no controls of this kind, so that they are off. */
  readonly controls: AgentControls;
  /** Throws when the change is not allowed: an agent under the tighten-only lock may only tighten. */
  permit(change: ControlChange): void;
};

const NO_CONTROLS: AgentControls = { mode: 'off', locked: false };

/**
 * Changes controls; there is no other way. Locks the balances that the controls bind first, so that no other change and no
 * spending happens meanwhile: everything read stays true, including the tighten-only lock.
 */
export async function changeControls<T>(
  deps: ControlsDeps,
  scope: ControlsScope,
  work: (change: Change, known: History | undefined) => Promise<T>,
  /** Reads the data for the work before a lock is taken. */
  prepare: () => Promise<History | undefined> = async () => undefined,
): Promise<T> {
  const { accountId, agentId } = scope;
  if (agentId === null) {
    const known = await prepare();
    return deps.invalidations.commitTeam(accountId, (tx) => {
      const time = timeOf(deps);
      return work({ tx, ...time, controls: NO_CONTROLS, permit: () => {} }, known);
    });
  }
  // The agent is checked before the lock, so that another developer's agent is never locked.
  await requireAgent(deps.sql, scope);
  const known = await prepare();
  return deps.invalidations.commit({ kind: 'agent_changed', agentId }, async (tx) => {
    const agent = await requireAgent(tx, scope);
    if (agent.status === 'closed') throw credentialErrors.accountClosed();
    // An agent that was suspended a moment ago must not undo the control that suspended it.
    if (scope.by === 'agent' && agent.status === 'suspended') {
      throw credentialErrors.agentSuspended();
    }
    const controls = (await readControls(tx, agentId)) ?? NO_CONTROLS;
    return work({ tx, ...timeOf(deps), controls, permit: permitFor(scope, controls) }, known);
  });
}

const permitFor = (scope: ControlsScope, controls: AgentControls) => (change: ControlChange) => {
  if (scope.by === 'agent' && controls.locked && !tightens(change)) {
    throw controlErrors.selfServiceLocked();
  }
};

/**
 * Returns the present time. Call it after the rows are locked, so that transactions that wait for each other have times in the
 * order of their commits.
 */
export function timeOf(deps: Pick<ControlsDeps, 'now'>) {
  const nowMs = Math.floor(deps.now());
  return { nowMs, nowSec: Math.floor(nowMs / 1_000) };
}
