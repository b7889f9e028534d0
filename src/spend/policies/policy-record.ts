import { type Counter, spentRaw } from '../../policy/counter.ts';
import { bucketAt } from '../../policy/window.ts';
import { windowResetMs } from '../../policy/window-reset.ts';
import { type StoredPolicy, statusOf } from './policy-request.ts';

type At = { readonly nowMs: number; readonly nowSec: number };

/** Returns the amount that counts under a policy, and the remaining amount of its limit. A missing counter reads as empty. */
export function usageOf(policy: StoredPolicy, counter: Counter | undefined, nowMs: number) {
  const spent = counter === undefined ? 0n : spentRaw(counter, bucketAt(policy, nowMs));
  const remaining = policy.limitRaw > spent ? policy.limitRaw - spent : 0n;
  return { spentRaw: spent, remainingRaw: remaining };
}

/** Returns a policy in the form of the wire. An active policy includes its spent amount. */
export function policyRecord(policy: StoredPolicy, counter: Counter | undefined, at: At) {
  const { window } = policy;
  const status = statusOf(policy, at.nowSec);
  const usage = status === 'active' ? usageOf(policy, counter, at.nowMs) : undefined;
  return {
    id: policy.id,
    scope: policy.agentId === null ? 'developer' : 'agent',
    ...(policy.agentId !== null && { agentId: policy.agentId }),
    kind: policy.kind,
    matchKey: policy.matchKey,
    matchKind: policy.matchKind,
    limitRaw: policy.limitRaw.toString(),
    limitFloorRaw: policy.limitFloorRaw?.toString() ?? null,
    limitCeilingRaw: policy.limitCeilingRaw?.toString() ?? null,
    windowKind: window.kind,
    windowSeconds: window.kind === 'rolling' ? window.seconds : null,
    calendarUnit: window.kind === 'calendar' ? window.unit : null,
    expiresAt: policy.expiresAtSec,
    effectiveFrom: policy.effectiveFromSec,
    effectiveUntil: policy.effectiveUntilSec,
    action: policy.action,
    status,
    label: policy.label,
    qualityThrottleFloorBps: policy.qualityFloorBps,
    qualityWindowSeconds: policy.qualityWindowSeconds,
    reserves: policy.reserves,
    createdAt: policy.createdAt.toISOString(),
    spentRaw: usage?.spentRaw.toString() ?? null,
    // With a quality floor the remaining amount differs by agent and changes every half minute, so it is null.
    remainingRaw: policy.qualityFloorBps === null ? (usage?.remainingRaw.toString() ?? null) : null,
  };
}

/** Returns the time of `windowResetMs` in ISO 8601, for responses; null without a counter or a reset. */
export function windowResetsAt(
  policy: StoredPolicy,
  counter: Counter | undefined,
  nowMs: number,
): string | null {
  const resetMs = counter === undefined ? null : windowResetMs(policy, counter, nowMs);
  return resetMs === null ? null : new Date(resetMs).toISOString();
}
