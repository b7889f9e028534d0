import { type Counter, emptyCounter } from '../../policy/counter.ts';
import { binds, type CapState, capStateOf } from '../../policy/evaluate.ts';
import { isEffective, type Policy, type SpendFacts } from '../../policy/policy.ts';
import { bucketsOf } from '../../policy/window.ts';
import { reservedRaw } from './admit.ts';
import type { BalanceState } from './change.ts';
import type { Rules, WindowPosition } from './rules.ts';
import { alignCounters, windowPositionAt } from './window-position.ts';

/** An agent's money and rules, as of one instant. */
export type Snapshot = { readonly state: BalanceState; readonly rules: Rules };

/** State of an agent whose counters are rolled to one present position of the windows. */
export type SpendReading = Snapshot & {
  readonly position: WindowPosition;
  /** Counters of the agent's own policies in their order, and in `teamCounters` of its team's. */
  readonly counters: readonly Counter[];
  readonly teamCounters: readonly Counter[];
};

/** Amount that may still be spent, by the balance and by each cap. */
export type Room = {
  /** States of the caps in effect, by policy id in ascending order. */
  readonly caps: readonly CapState[];
  /** Spendable balance minus the money that is kept for tasks. */
  readonly availableRaw: bigint;
};

export type SpendState = SpendReading &
  Room & {
    /** Money that is kept for tasks and not spent yet. */
    readonly reservedRaw: bigint;
  };

const NO_TEAM: ReadonlyMap<number, Counter> = new Map();

/** Returns a snapshot at a position. Team policies without a given counter have an empty one. */
export function readAt(
  { state, rules }: Snapshot,
  nowMs: number,
  team: ReadonlyMap<number, Counter> = NO_TEAM,
): SpendReading {
  const position = windowPositionAt(rules, nowMs);
  const teamCounters = rules.teamPolicies.map(
    ({ id, window }) => team.get(id) ?? emptyCounter(id, bucketsOf(window)),
  );
  const counters = alignCounters(rules, state.counters, position);
  return { state, rules, position, counters, teamCounters };
}

/** Returns the agent's state under all its limits. Every report to the agent and its developer comes from this reading. */
export function spendStateOf(reading: SpendReading): SpendState {
  const { state, rules, counters, position } = reading;
  const kept = reservedRaw(rules, counters, position, null);
  const caps = capsOf(reading, null, (policy) => isEffective(policy, position.nowSec));
  return { ...reading, caps, reservedRaw: kept, availableRaw: leftOf(state, kept) };
}

/**
 * Returns the room that an agent's balance and caps leave for one spending. The money kept for its own task is
 * included.
 */
export function roomFor(
  reading: SpendReading,
  facts: SpendFacts,
  taskValueBps: number | null,
): Room {
  const { state, rules, counters, position } = reading;
  const kept = reservedRaw(rules, counters, position, facts.taskId);
  const caps = capsOf(reading, taskValueBps, (policy) => binds(policy, facts, position.nowSec));
  return { caps, availableRaw: leftOf(state, kept) };
}

const leftOf = ({ spendableRaw }: BalanceState, keptRaw: bigint): bigint =>
  spendableRaw > keptRaw ? spendableRaw - keptRaw : 0n;

function capsOf(
  { rules, counters, teamCounters, position }: SpendReading,
  taskValueBps: number | null,
  isMeant: (policy: Policy) => boolean,
): CapState[] {
  const reading = { taskValueBps, quality: rules.quality };
  const spendState = (
    policies: readonly Policy[],
    counted: readonly Counter[],
    buckets: readonly number[],
  ): CapState[] =>
    policies.flatMap((policy, i) =>
      isMeant(policy)
        ? [capStateOf(policy, counted[i] as Counter, buckets[i] as number, reading)]
        : [],
    );
  const own = spendState(rules.policies, counters, position.buckets);
  const team = spendState(rules.teamPolicies, teamCounters, position.teamBuckets);
  if (team.length === 0) return own;
  return [...own, ...team].sort((a, b) => a.policy.id - b.policy.id);
}
