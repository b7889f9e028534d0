import { type Counter, spentRaw } from './counter.ts';
import { type CapReading, effectiveCapRaw } from './effective-cap.ts';
import { matches } from './match.ts';
import { isEffective, type Policy, type SpendFacts } from './policy.ts';
import { windowResetIn } from './window-reset.ts';

/** Cap that a spending would exceed. */
export type Breach = {
  readonly policy: Policy;
  readonly requiredRaw: bigint;
  /** Settled and held amount before the spending. */
  readonly spentRaw: bigint;
  /** Amount that the policy allowed at that moment. */
  readonly capRaw: bigint;
};

/** State of one policy's cap for one spending. */
export type CapState = {
  readonly policy: Policy;
  readonly spentRaw: bigint;
  readonly capRaw: bigint;
  /** Never negative: a cap that was lowered below the spent amount leaves 0. */
  readonly remainingRaw: bigint;
  /** Unix milliseconds at which counted amounts next leave the window by themselves; null as in `windowResetIn`. */
  readonly windowResetsAtMs: number | null;
};

/** Returns the state of a policy's cap now. `bucket` is the present bucket's number. */
export function capStateOf(
  policy: Policy,
  counter: Counter,
  bucket: number,
  reading: CapReading,
): CapState {
  const capRaw = effectiveCapRaw(policy, reading);
  const spent = spentRaw(counter, bucket);
  return {
    policy,
    spentRaw: spent,
    capRaw,
    remainingRaw: capRaw > spent ? capRaw - spent : 0n,
    windowResetsAtMs: windowResetIn(policy, counter, bucket),
  };
}

/** Returns the cap with the smallest remaining amount; of equal caps, the first. Undefined without caps. */
export function tightestOf(spendState: readonly CapState[]): CapState | undefined {
  let tightest: CapState | undefined;
  for (const standing of spendState) {
    if (tightest === undefined || standing.remainingRaw < tightest.remainingRaw) {
      tightest = standing;
    }
  }
  return tightest;
}

/** Returns true when a policy may refuse a spending now: it matches the spending and is in effect. */
export const binds = (policy: Policy, facts: SpendFacts, nowSec: number): boolean =>
  matches(policy, facts) && isEffective(policy, nowSec);

/**
 * Returns the breach to report: a breach that suspends before a breach that only blocks, then the breach with the smallest
 * remaining amount, then the breach of the older policy.
 */
export function worseBreach(a: Breach | undefined, b: Breach): Breach {
  if (a === undefined) return b;
  const [left, right] = [a.policy.action, b.policy.action];
  if (left !== right) return left === 'suspend_agent' ? a : b;
  const room = a.capRaw - a.spentRaw - (b.capRaw - b.spentRaw);
  if (room !== 0n) return room < 0n ? a : b;
  return a.policy.id <= b.policy.id ? a : b;
}
