import { type Counter, correct, count } from '../../policy/counter.ts';
import { effectiveCapRaw } from '../../policy/effective-cap.ts';
import { matches } from '../../policy/match.ts';
import { isEffective, type Policy, type SpendFacts } from '../../policy/policy.ts';
import { bucketAt } from '../../policy/window.ts';
import type { Rules, WindowPosition } from './rules.ts';

/** Team cap that counts an operation. The database checks the cap in the order of arrival. */
export type TeamCount = {
  readonly policy: Policy;
  readonly bucket: number;
  /**
   * Upper bound of the amount under the policy; null when the operation requests no further amount, or the policy is not in
   * effect.
   */
  readonly capRaw: bigint | null;
};

/** Change of counters by an operation. Every policy that matches its facts changes by the same amounts. */
export type Count = {
  readonly heldRaw: bigint;
  readonly settledRaw: bigint;
  /** Indexes in the rules of the agent's own policies that count the operation. */
  readonly own: readonly number[];
  readonly team: readonly TeamCount[];
  /** Buckets of `own`, where the settled amount corrects an earlier one. Absent: it counts in the present buckets. */
  readonly correctedBuckets?: readonly number[] | undefined;
};

const NO_TEAM: readonly TeamCount[] = [];

/** Returns the counters' change when more is held, which caps may refuse. Null when no policy counts it. */
export function countHeld(
  rules: Rules,
  facts: SpendFacts,
  heldRaw: bigint,
  at: { readonly position: WindowPosition; readonly taskValueBps: number | null },
): Count | null {
  if (heldRaw === 0n) return null;
  const own = ownPlaces(rules.policies, facts);
  const team = teamCounts(rules, facts, at.position, at.taskValueBps, true);
  return own.length === 0 && team.length === 0 ? null : { heldRaw, settledRaw: 0n, own, team };
}

/**
 * Returns the counters' change when a hold is resolved: the held amount becomes 0, and the charged amount counts as settled.
 * Null when no policy counts it.
 */
export function countSettled(
  rules: Rules,
  facts: SpendFacts,
  position: WindowPosition,
  resolved: { readonly heldRaw: bigint; readonly chargedRaw: bigint },
): Count | null {
  const { heldRaw, chargedRaw } = resolved;
  if (heldRaw === 0n && chargedRaw === 0n) return null;
  const own = ownPlaces(rules.policies, facts);
  const team = teamCounts(rules, facts, position, null, false);
  if (own.length === 0 && team.length === 0) return null;
  return { heldRaw: -heldRaw, settledRaw: chargedRaw, own, team };
}

/**
 * Returns the counters' change when the cost of a call that was counted earlier has changed. It counts where the call was
 * counted: under policies that counted at that time, in the bucket of that time. Null when no policy counts it.
 */
export function countCorrected(
  rules: Rules,
  facts: SpendFacts,
  corrected: { readonly countedAtMs: number; readonly byRaw: bigint },
): Count | null {
  const { byRaw, countedAtMs } = corrected;
  if (byRaw === 0n) return null;
  const counted = (policy: Policy) => (policy.startsAtMs ?? 0) <= countedAtMs;
  const bucketOf = (policy: Policy) => bucketAt(policy, countedAtMs);
  const own = ownPlaces(rules.policies, facts).filter((i) => counted(rules.policies[i] as Policy));
  const team = rules.teamPolicies
    .filter((policy) => matches(policy, facts) && counted(policy))
    .map((policy) => ({ policy, bucket: bucketOf(policy), capRaw: null }));
  if (own.length === 0 && team.length === 0) return null;
  const correctedBuckets = own.map((i) => bucketOf(rules.policies[i] as Policy));
  return { heldRaw: 0n, settledRaw: byRaw, own, team, correctedBuckets };
}

const NOWHERE: readonly number[] = [];

function ownPlaces(policies: readonly Policy[], facts: SpendFacts): readonly number[] {
  if (policies.length === 0) return NOWHERE;
  const own: number[] = [];
  for (let i = 0; i < policies.length; i++) {
    if (matches(policies[i] as Policy, facts)) own.push(i);
  }
  return own;
}

function teamCounts(
  { teamPolicies, quality }: Rules,
  facts: SpendFacts,
  position: WindowPosition,
  taskValueBps: number | null,
  isCapped: boolean,
): readonly TeamCount[] {
  if (teamPolicies.length === 0) return NO_TEAM;
  const found: TeamCount[] = [];
  for (let i = 0; i < teamPolicies.length; i++) {
    const policy = teamPolicies[i] as Policy;
    if (!matches(policy, facts)) continue;
    const capped = isCapped && isEffective(policy, position.nowSec);
    const capRaw = capped ? effectiveCapRaw(policy, { taskValueBps, quality }) : null;
    found.push({ policy, bucket: position.teamBuckets[i] ?? 0, capRaw });
  }
  return found;
}

/** Returns the agent's own counters after an operation. */
export function applyCount(
  counters: readonly Counter[],
  by: Count,
  buckets: readonly number[],
): readonly Counter[] {
  if (by.own.length === 0) return counters;
  const next = counters.slice();
  if (by.correctedBuckets !== undefined) {
    by.own.forEach((place, i) => {
      const bucket = by.correctedBuckets?.[i] as number;
      next[place] = correct(next[place] as Counter, bucket, by.settledRaw);
    });
    return next;
  }
  for (const place of by.own) {
    next[place] = count(next[place] as Counter, buckets[place] as number, by);
  }
  return next;
}
