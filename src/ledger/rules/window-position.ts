import { type Counter, emptyCounter, rollTo } from '../../policy/counter.ts';
import { bucketAt, bucketsOf } from '../../policy/window.ts';
import type { Rules, WindowPosition } from './rules.ts';

/** Returns the present position in the windows of these rules, by the database's clock. */
export function windowPositionAt(
  rules: Pick<Rules, 'policies' | 'teamPolicies'>,
  nowMs: number,
): WindowPosition {
  return {
    nowMs,
    nowSec: Math.floor(nowMs / 1_000),
    buckets: rules.policies.map((policy) => bucketAt(policy, nowMs)),
    teamBuckets: rules.teamPolicies.map((policy) => bucketAt(policy, nowMs)),
  };
}

/**
 * Returns the present counters in the order of the agent's own policies. A policy without a stored counter gets an empty
 * counter; a stored counter without a policy is left out.
 */
export function alignCounters(
  rules: Pick<Rules, 'policies'>,
  counters: readonly Counter[],
  position: WindowPosition,
): readonly Counter[] {
  return rules.policies.map((policy, i) => {
    const found =
      counters[i]?.policyId === policy.id
        ? counters[i]
        : counters.find(({ policyId }) => policyId === policy.id);
    const counter = found ?? emptyCounter(policy.id, bucketsOf(policy.window));
    return rollTo(counter, position.buckets[i] ?? 0);
  });
}
