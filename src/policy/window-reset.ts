import { type Counter, rollTo } from './counter.ts';
import type { Policy } from './policy.ts';
import { bucketAt, bucketStartMs } from './window.ts';

/**
 * When something that counts now will count no more: the oldest bucket of a rolling window that holds anything leaves
 * it, a calendar period ends. Null where nothing leaves by itself, or nothing was settled yet.
 */
export function windowResetMs(policy: Policy, counter: Counter, nowMs: number): number | null {
  const now = bucketAt(policy, nowMs);
  if (policy.window.kind === 'calendar') return bucketStartMs(policy.window, now + 1) ?? null;
  if (policy.window.kind !== 'rolling') return null;
  const { head, buckets } = rollTo(counter, now);
  const span = buckets.length;
  for (let bucket = Math.max(0, head - span + 1); bucket <= head; bucket++) {
    if ((buckets[bucket % span] ?? 0n) > 0n) {
      return bucketStartMs(policy.window, bucket + span) ?? null;
    }
  }
  return null;
}
