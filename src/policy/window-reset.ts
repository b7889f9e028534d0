import { type Counter, rollTo } from './counter.ts';
import type { Policy } from './policy.ts';
import { bucketAt, bucketStartMs } from './window.ts';

/** As `windowResetIn`, at a time. */
export const windowResetMs = (policy: Policy, counter: Counter, nowMs: number): number | null =>
  windowResetIn(policy, counter, bucketAt(policy, nowMs));

/**
 * When something that counts in this bucket will count no more, in Unix milliseconds: the oldest bucket of a rolling
 * window that anything counts in leaves it, a calendar period ends, a cap for once expires. Null where nothing leaves by
 * itself, or nothing counts.
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
