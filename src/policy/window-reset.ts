import { type Counter, rollTo } from './counter.ts';
import type { Policy } from './policy.ts';
import { bucketAt, bucketStartMs } from './window.ts';

/** Returns the same as `windowResetIn`, for a time instead of a bucket. */
export const windowResetMs = (policy: Policy, counter: Counter, nowMs: number): number | null =>
  windowResetIn(policy, counter, bucketAt(policy, nowMs));

/**
 * Returns the Unix milliseconds at which an amount that counts in this bucket stops counting: the oldest bucket with an amount
 * leaves a rolling window, a calendar period ends, or a cap for once expires. Null for a rolling window without amounts, for a
 * session, and for a cap without expiry.
 */
export function windowResetIn(policy: Policy, counter: Counter, bucket: number): number | null {
  const { window, expiresAtSec } = policy;
  switch (window.kind) {
    case 'rolling': {
      const oldest = oldestCounted(rollTo(counter, bucket));
      if (oldest === undefined) return null;
      return bucketStartMs(window, oldest + counter.buckets.length) ?? null;
    }
    case 'calendar':
      return bucketStartMs(window, bucket + 1) ?? null;
    case 'once':
      return expiresAtSec === null ? null : expiresAtSec * 1_000;
    case 'session':
      return null;
  }
}

/**
 * Returns the oldest bucket in which anything counts; undefined when nothing does. Held money settles in the newest bucket or a
 * later bucket.
 */
function oldestCounted({ buckets, head, heldRaw, settledRaw }: Counter): number | undefined {
  if (settledRaw === 0n) return heldRaw === 0n ? undefined : head;
  const span = buckets.length;
  for (let bucket = Math.max(0, head - span + 1); bucket <= head; bucket++) {
    if (buckets[bucket % span] !== 0n) return bucket;
  }
  return undefined;
}
