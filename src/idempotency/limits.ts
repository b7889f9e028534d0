/** Limits of idempotency keys, and of the answers that are kept for them. */
export const IDEMPOTENCY_LIMITS = {
  keyChars: 255,
  windowMs: 600_000,
  /** Bytes of a kept answer. A longer answer is not kept; a repeat of its key is refused as not replayable. */
  answerBytes: 5 * 1024 * 1024,
  /** Longest time that a caller waits for its answer to be stored. */
  storeMs: 3_000,
  /** Attempts of one request to claim an idempotency key that other requests take and free at the same time. */
  looks: 5,
  /** Bounds of the outcomes that the database could not store yet. They are written again each second. */
  unwritten: {
    most: 10_000,
    bytes: 32 * 1024 * 1024,
    perTick: 100,
    retryMs: 1_000,
    /** Time after a doubtful claim was first freed in which every retry frees it again: the claim may be executed late. */
    doubtMs: 5_000,
  },
  prune: {
    everyMs: 15_000,
    batch: 1_000,
    batchesPerTick: 10,
  },
} as const;
