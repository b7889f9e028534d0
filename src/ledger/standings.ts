import { type Counter, emptyCounter } from '../policy/counter.ts';
import { binds, type Standing, standingOf } from '../policy/evaluate.ts';
import { isEffective, type Policy, type SpendFacts } from '../policy/policy.ts';
import { bucketsOf } from '../policy/window.ts';
import { type Moment, type Rules, reservedRaw } from './admit.ts';
import type { BalanceState } from './change.ts';
import { alignCounters, momentOf } from './moment.ts';

/** An agent's money and what it may do, as of one instant. */
export type Snapshot = { readonly state: BalanceState; readonly rules: Rules };

/** A snapshot as it reads at a moment. */
export type Reading = Snapshot & {
  readonly moment: Moment;
  /** In the order of the agent's own policies, and of its team's. */
  readonly counters: readonly Counter[];
  readonly teamCounters: readonly Counter[];
};

/** What may still be spent, and by which caps. */
export type Room = {
  /** By the ids of their policies. */
  readonly caps: readonly Standing[];
  /** What the balance leaves: all but what is kept for tasks. */
  readonly availableRaw: bigint;
};

export type Standings = Reading &
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
  const moment = momentOf(rules, nowMs);
  const teamCounters = rules.teamPolicies.map(
    ({ id, window }) => team.get(id) ?? emptyCounter(id, bucketsOf(window)),
  );
  const counters = alignCounters(rules, state.counters, moment);
  return { state, rules, moment, counters, teamCounters };
}

/** How an agent stands to everything that limits it now: the one reading behind what it and its developer are told. */
export function standingsOf(reading: Reading): Standings {
  const { state, rules, counters, moment } = reading;
  const kept = reservedRaw(rules, counters, moment, null);
  const caps = capsOf(reading, null, (policy) => isEffective(policy, moment.nowSec));
  return { ...reading, caps, reservedRaw: kept, availableRaw: leftOf(state, kept) };
}

/** What an agent's money and caps leave to one spending; what is kept for its task is its own. */
export function roomFor(reading: Reading, facts: SpendFacts, taskValueBps: number | null): Room {
  const { state, rules, counters, moment } = reading;
  const kept = reservedRaw(rules, counters, moment, facts.taskId);
  const caps = capsOf(reading, taskValueBps, (policy) => binds(policy, facts, moment.nowSec));
  return { caps, availableRaw: leftOf(state, kept) };
}

const leftOf = ({ spendableRaw }: BalanceState, keptRaw: bigint): bigint =>
  spendableRaw > keptRaw ? spendableRaw - keptRaw : 0n;

function capsOf(
  { rules, counters, teamCounters, moment }: Reading,
  taskValueBps: number | null,
  isMeant: (policy: Policy) => boolean,
): Standing[] {
  const reading = { taskValueBps, quality: rules.quality };
  const standings = (
    policies: readonly Policy[],
    counted: readonly Counter[],
    buckets: readonly number[],
  ): Standing[] =>
    policies.flatMap((policy, i) =>
      isMeant(policy)
        ? [standingOf(policy, counted[i] as Counter, buckets[i] as number, reading)]
        : [],
    );
  const own = standings(rules.policies, counters, moment.buckets);
  const team = standings(rules.teamPolicies, teamCounters, moment.teamBuckets);
  if (team.length === 0) return own;
  return [...own, ...team].sort((a, b) => a.policy.id - b.policy.id);
}
