import { type Counter, emptyCounter } from '../../policy/counter.ts';
import { binds, type CapState, capStateOf } from '../../policy/evaluate.ts';
import { isEffective, type Policy, type SpendFacts } from '../../policy/policy.ts';
import { bucketsOf } from '../../policy/window.ts';
import { reservedRaw } from './admit.ts';
import type { BalanceState } from './change.ts';
import type { Rules, WindowPosition } from './rules.ts';
import { alignCounters, windowPositionAt } from './window-position.ts';

/** An agent's money and what it may do, as of one instant. */
export type Snapshot = { readonly state: BalanceState; readonly rules: Rules };

/** A snapshot with its counters aligned to one position of the windows. */
export type Reading = Snapshot & {
  readonly position: WindowPosition;
  /** In the order of the agent's own policies, and of its team's. */
  readonly counters: readonly Counter[];
  readonly teamCounters: readonly Counter[];
};

/** What may still be spent, and by which caps. */
export type Room = {
  /** By the ids of their policies. */
  readonly caps: readonly CapState[];
  /** What the balance leaves: all but what is kept for tasks. */
  readonly availableRaw: bigint;
};

export type SpendState = Reading &
  Room & {
    /** What is kept for tasks and not spent yet. */
    readonly reservedRaw: bigint;
  };

const NO_TEAM: ReadonlyMap<number, Counter> = new Map();

/** Counters of the team's policies that are not given read as empty. */
export function readAt(
  { state, rules }: Snapshot,
  nowMs: number,
  team: ReadonlyMap<number, Counter> = NO_TEAM,
): Reading {
  const position = windowPositionAt(rules, nowMs);
  const teamCounters = rules.teamPolicies.map(
    ({ id, window }) => team.get(id) ?? emptyCounter(id, bucketsOf(window)),
  );
  const counters = alignCounters(rules, state.counters, position);
  return { state, rules, position, counters, teamCounters };
}

/** How an agent stands to everything that limits it now: the one reading behind all that it and its developer see. */
export function spendStateOf(reading: Reading): SpendState {
  const { state, rules, counters, position } = reading;
  const kept = reservedRaw(rules, counters, position, null);
  const caps = capsOf(reading, null, (policy) => isEffective(policy, position.nowSec));
  return { ...reading, caps, reservedRaw: kept, availableRaw: leftOf(state, kept) };
}

/** What an agent's money and caps leave to one spending; what is kept for its task is its own. */
export function roomFor(reading: Reading, facts: SpendFacts, taskValueBps: number | null): Room {
  const { state, rules, counters, position } = reading;
  const kept = reservedRaw(rules, counters, position, facts.taskId);
  const caps = capsOf(reading, taskValueBps, (policy) => binds(policy, facts, position.nowSec));
  return { caps, availableRaw: leftOf(state, kept) };
}

const leftOf = ({ spendableRaw }: BalanceState, keptRaw: bigint): bigint =>
  spendableRaw > keptRaw ? spendableRaw - keptRaw : 0n;

function capsOf(
  { rules, counters, teamCounters, position }: Reading,
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
