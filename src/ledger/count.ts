import { type Counter, count } from '../policy/counter.ts';
import { effectiveCapRaw } from '../policy/effective-cap.ts';
import { matches } from '../policy/match.ts';
import { isEffective, type Policy, type SpendFacts } from '../policy/policy.ts';
import { type Moment, type Rules, readingOf } from './admit.ts';

/** A cap of the team that an operation counts under; the database admits it, in arrival order. */
export type TeamCount = {
  readonly policy: Policy;
  readonly bucket: number;
  /** What it may come to; null where nothing more is asked for. */
  readonly capRaw: bigint | null;
};

/** How counters move with an operation: each policy that matches its facts by the same amounts. */
export type Count = {
  readonly heldRaw: bigint;
  readonly settledRaw: bigint;
  /** Places of the agent's own policies among its rules. */
  readonly own: readonly number[];
  readonly team: readonly TeamCount[];
};

const NO_TEAM: readonly TeamCount[] = [];

/** More is held, which caps may refuse. Null: no policy counts it. */
export function countHeld(
  rules: Rules,
  facts: SpendFacts,
  heldRaw: bigint,
  at: { readonly moment: Moment; readonly taskValueBps: number | null },
): Count | null {
  if (heldRaw === 0n) return null;
  const { moment, taskValueBps } = at;
  return counted(rules, facts, moment, { heldRaw, settledRaw: 0n }, (policy) =>
    isEffective(policy, moment.nowSec)
      ? effectiveCapRaw(policy, readingOf(rules, taskValueBps))
      : null,
  );
}

/** A hold is resolved: all of it is held no more, and what it came to is settled. Null: no policy counts it. */
export function countSettled(
  rules: Rules,
  facts: SpendFacts,
  moment: Moment,
  resolved: { readonly heldRaw: bigint; readonly chargedRaw: bigint },
): Count | null {
  const { heldRaw, chargedRaw } = resolved;
  if (heldRaw === 0n && chargedRaw === 0n) return null;
  const by = { heldRaw: -heldRaw, settledRaw: chargedRaw };
  return counted(rules, facts, moment, by, () => null);
}

function counted(
  rules: Rules,
  facts: SpendFacts,
  moment: Moment,
  by: { readonly heldRaw: bigint; readonly settledRaw: bigint },
  capOf: (policy: Policy) => bigint | null,
): Count | null {
  const { policies, teamPolicies } = rules;
  if (policies.length === 0 && teamPolicies.length === 0) return null;
  const own: number[] = [];
  for (let i = 0; i < policies.length; i++) {
    if (matches(policies[i] as Policy, facts)) own.push(i);
  }
  const team = teamPolicies.length === 0 ? NO_TEAM : teamCounts(teamPolicies, facts, moment, capOf);
  return own.length === 0 && team.length === 0 ? null : { ...by, own, team };
}

function teamCounts(
  policies: readonly Policy[],
  facts: SpendFacts,
  moment: Moment,
  capOf: (policy: Policy) => bigint | null,
): TeamCount[] {
  return policies.flatMap((policy, i) => {
    if (!matches(policy, facts)) return [];
    return [{ policy, bucket: moment.teamBuckets[i] ?? 0, capRaw: capOf(policy) }];
  });
}

/** The agent's own counters after an operation. */
export function applyCount(
  counters: readonly Counter[],
  by: Count,
  buckets: readonly number[],
): readonly Counter[] {
  if (by.own.length === 0) return counters;
  const next = counters.slice();
  for (const place of by.own) {
    next[place] = count(next[place] as Counter, buckets[place] as number, by);
  }
  return next;
}
