import { leftFor, withSpend } from '../../ledger/rules/project.ts';
import { type Room, roomFor, type SpendReading } from '../../ledger/rules/spend-state.ts';
import { refusalOfDestination } from '../../policy/allowlist.ts';
import type { CapState } from '../../policy/evaluate.ts';
import type { SpendFacts } from '../../policy/policy.ts';

/** Planned calls of an agent to one target. */
export type PlannedCalls = {
  readonly index: number;
  /** Price of one call; 0 when the target is free. */
  readonly priceRaw: bigint;
  readonly count: number;
  /** Facts that the policies match. The payee is null when there is no payment on the chain. */
  readonly facts: SpendFacts & { readonly host: string };
};

/** A cap or an allowlist that refuses planned calls, at the first item that it refuses. */
export type PlannedBreach = {
  readonly itemIndex: number;
  /** Id of the policy with the cap. Null when an allowlist refuses the destination. */
  readonly policyId: number | null;
  readonly kind: string;
  readonly matchKey: string | null;
  readonly label: string | null;
  readonly limitRaw: bigint;
  /** Amount under the cap if all calls of the item were made. */
  readonly projectedSpentRaw: bigint;
  readonly reason: 'policy_exceeded' | 'host_not_allowlisted' | 'vendor_not_allowlisted';
};

export type ForecastPlan = {
  readonly totalRaw: bigint;
  readonly willExceedAvailable: boolean;
  readonly breaches: readonly PlannedBreach[];
};

/**
 * Plans calls that are made one after the other, by the rules that decide holds. A refused call uses nothing of the caps. The
 * balance is compared with the total of all calls, including refused calls.
 */
export function planForecast(
  now: SpendReading,
  taskValueBps: number | null,
  plan: readonly PlannedCalls[],
): ForecastPlan {
  let admitted = now;
  let demanded = now;
  let totalRaw = 0n;
  let willExceedAvailable = false;
  const breaches: PlannedBreach[] = [];
  for (const calls of plan) {
    const { facts, priceRaw } = calls;
    const itemRaw = priceRaw * BigInt(calls.count);
    totalRaw += itemRaw;
    const balance = roomFor(demanded, facts, taskValueBps);
    willExceedAvailable ||= itemRaw > leftFor(demanded.state, balance, facts);
    demanded = withSpend(demanded, facts, itemRaw);

    const unlisted = unlistedOf(now, calls, itemRaw);
    if (unlisted !== undefined) {
      breaches.push(unlisted);
      continue;
    }
    const { caps } = roomFor(admitted, facts, taskValueBps);
    for (const cap of caps) {
      if (!fits(cap, itemRaw)) breaches.push(breachOf(cap, calls.index, itemRaw));
    }
    admitted = withSpend(admitted, facts, priceRaw * fittingCalls(caps, calls));
  }
  return { totalRaw, willExceedAvailable, breaches };
}

/** Least amount of a call before its price is known: a used-up cap refuses even a free call. */
const LEAST_RAW = 1n;

/** Returns true when the cap has `amountRaw` left. A free call needs one raw unit. */
export const fits = ({ remainingRaw }: CapState, amountRaw: bigint): boolean =>
  (amountRaw > LEAST_RAW ? amountRaw : LEAST_RAW) <= remainingRaw;

/** Returns the number of calls, made one after the other, that every cap admits. */
function fittingCalls(caps: Room['caps'], { priceRaw, count }: PlannedCalls): bigint {
  let most = BigInt(count);
  if (priceRaw === 0n) return most;
  for (const { remainingRaw } of caps) {
    const fitting = remainingRaw / priceRaw;
    if (fitting < most) most = fitting;
  }
  return most;
}

function breachOf(cap: CapState, itemIndex: number, itemRaw: bigint): PlannedBreach {
  const { policy, capRaw, spentRaw } = cap;
  const { id: policyId, kind, matchKey, label } = policy;
  const projected = { limitRaw: capRaw, projectedSpentRaw: spentRaw + itemRaw };
  return { itemIndex, policyId, kind, matchKey, label, ...projected, reason: 'policy_exceeded' };
}

function unlistedOf(
  { rules, position }: SpendReading,
  { index: itemIndex, facts }: PlannedCalls,
  itemRaw: bigint,
): PlannedBreach | undefined {
  const known = [...rules.policies, ...rules.teamPolicies];
  const refusal = refusalOfDestination(rules.allowlistMode, known, facts, position.nowSec);
  if (refusal === undefined) return undefined;
  const { reason } = refusal;
  const named =
    reason === 'host_not_allowlisted'
      ? ({ kind: 'api', matchKey: refusal.host } as const)
      : ({ kind: 'vendor', matchKey: refusal.recipient } as const);
  const amounts = { limitRaw: 0n, projectedSpentRaw: itemRaw };
  return { itemIndex, policyId: null, ...named, label: null, ...amounts, reason };
}
