import type { AgentBatch, BalanceState, Change } from './change.ts';
import { applyCount } from './count.ts';
import type { Rules, WindowPosition } from './rules.ts';
import { crossedThresholds } from './spend-events.ts';

/** Returns the state after a change. The version stays, because it moves once a batch. */
export function applyChange(
  state: BalanceState,
  change: Change,
  position: WindowPosition,
): BalanceState {
  const { delta, count } = change;
  return {
    version: state.version,
    rulesVersion: state.rulesVersion,
    spendableRaw: state.spendableRaw + delta.spendableRaw,
    heldRaw: state.heldRaw + delta.heldRaw,
    creditedRaw: state.creditedRaw + delta.creditedRaw,
    consumedRaw: state.consumedRaw + delta.consumedRaw,
    walletRaw: state.walletRaw + delta.walletRaw,
    promisedRaw: state.promisedRaw + delta.promisedRaw,
    counters: count === null ? state.counters : applyCount(state.counters, count, position.buckets),
  };
}

/** Returns an agent's batch of changes that were decided one after the other, from `before` to `after`. */
export function partOf(
  agentId: number,
  before: BalanceState,
  after: BalanceState,
  changes: readonly Change[],
): AgentBatch {
  let writes = 0;
  let counted = false;
  let { rulesVersion } = before;
  for (const change of changes) {
    if (change.probe) continue;
    writes++;
    if (change.count !== null && change.count.own.length > 0) counted = true;
    for (const { row } of change.companions) if (row === 'agent.suspended') rulesVersion++;
  }
  const version = writes > 0 ? before.version + 1n : before.version;
  return { agentId, before, after: { ...after, version, rulesVersion }, writes, counted, changes };
}

/** Adds the events of thresholds that the batch as a whole crosses to the last change that is written. */
export function addCrossings(
  rules: Rules,
  agentId: number,
  before: BalanceState,
  after: BalanceState,
  changes: Change[],
): void {
  const crossed = crossedThresholds(rules, agentId, before, after);
  if (crossed.length === 0) return;
  for (let last = changes.length - 1; last >= 0; last--) {
    const change = changes[last] as Change;
    if (change.probe) continue;
    changes[last] = { ...change, companions: [...change.companions, ...crossed] };
    return;
  }
}
