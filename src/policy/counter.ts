/**
 * Amounts that count under one policy: the held amount, and settled amounts in a ring of buckets. `head` is the newest
 * bucket's number, and bucket `n` is at index `n` modulo the length. Never changed in place.
 */
export type Counter = {
  readonly policyId: number;
  readonly heldRaw: bigint;
  readonly head: number;
  readonly buckets: readonly bigint[];
  /** Sum of the settled amounts in all buckets. */
  readonly settledRaw: bigint;
};

export function emptyCounter(policyId: number, buckets: number): Counter {
  return {
    policyId,
    heldRaw: 0n,
    head: 0,
    buckets: Array.from({ length: buckets }, () => 0n),
    settledRaw: 0n,
  };
}

/** Returns the counter moved on to a bucket. For a bucket before its newest bucket it is returned unchanged. */
export function rollTo(counter: Counter, bucket: number): Counter {
  if (bucket <= counter.head) return counter;
  // A counter without settled amounts has no buckets to drop.
  if (counter.settledRaw === 0n) return { ...counter, head: bucket };
  const span = counter.buckets.length;
  const buckets = counter.buckets.slice();
  let { settledRaw } = counter;
  const first = Math.max(counter.head + 1, bucket - span + 1);
  for (let n = first; n <= bucket; n++) {
    settledRaw -= buckets[n % span] ?? 0n;
    buckets[n % span] = 0n;
  }
  return { ...counter, head: bucket, buckets, settledRaw };
}

/** Returns the amount that counts at a bucket: the settled amounts in the window plus the held amount. */
export function spentRaw(counter: Counter, bucket: number): bigint {
  const { settledRaw, heldRaw } = rollTo(counter, bucket);
  return settledRaw + heldRaw;
}

/** Returns the counter after an operation: changes the held amount, and adds the settled amount to the bucket. */
export function count(
  counter: Counter,
  bucket: number,
  by: { readonly heldRaw: bigint; readonly settledRaw: bigint },
): Counter {
  const heldRaw = counter.heldRaw + by.heldRaw;
  // A hold changes no bucket, and reading the counter rolls it. The object is written out because a spread costs several times
  // more.
  if (by.settledRaw === 0n) {
    const { policyId, head, buckets, settledRaw } = counter;
    return { policyId, heldRaw, head, buckets, settledRaw };
  }
  const rolled = rollTo(counter, bucket);
  const buckets = rolled.buckets.slice();
  const place = rolled.head % buckets.length;
  buckets[place] = (buckets[place] ?? 0n) + by.settledRaw;
  const settledRaw = rolled.settledRaw + by.settledRaw;
  return { policyId: rolled.policyId, heldRaw, head: rolled.head, buckets, settledRaw };
}

/**
 * Returns the counter after a correction of an amount that was settled in an earlier bucket. Nothing changes once that bucket
 * has left the window, and no bucket falls below zero.
 */
export function correct(counter: Counter, bucket: number, byRaw: bigint): Counter {
  const span = counter.buckets.length;
  if (bucket > counter.head || bucket <= counter.head - span) return counter;
  const buckets = counter.buckets.slice();
  const place = bucket % span;
  const wasRaw = buckets[place] ?? 0n;
  const isRaw = wasRaw + byRaw > 0n ? wasRaw + byRaw : 0n;
  buckets[place] = isRaw;
  return { ...counter, buckets, settledRaw: counter.settledRaw + isRaw - wasRaw };
}
