/** Of requests: how many, how long, and what is kept of their answers. */
export const REQUEST_LIMITS = {
  // Requests a minute
  developerKeyPerMinute: 100,
  gatewayPerMinute: 300,
  /** Of calls with the caller's own provider key. One that the pool serves after all counts under `gatewayPerMinute`, too. */
  byokPerMinute: 3_000,
  ledgerSyncPerMinute: 60,
  /** What an agent's own key changes of its controls, and reports of its actions. */
  agentControlPerMinute: 300,
  ipPerMinute: 60,
  agentProxyPerMinute: 3_000,
  globalPerMinute: 12_000,

  // Bodies and headers
  jsonBodyBytes: 1024 * 1024,
  chatBodyBytes: 10 * 1024 * 1024,
  embeddingBodyBytes: 4 * 1024 * 1024,
  /** Of an upload to be transcribed; its form may add `formFieldsBytes` to that. */
  audioFileBytes: 25 * 1024 * 1024,
  formFieldsBytes: 128 * 1024,
  formParts: 64,
  formPartHeadBytes: 4 * 1024,
  headerBlockBytes: 16 * 1024,
  /** What all requests together may hold of bodies that are still arriving or being handled. */
  bodyBytesInFlight: 256 * 1024 * 1024,
  /** A body beyond its limit is read away this far, so that the client can read the refusal. */
  bodyDiscardBytes: 16 * 1024 * 1024,
  /** Of a body that is read while it arrives: beyond so much unread the connection rests. */
  bodyStreamAheadBytes: 64 * 1024,
  requestIdChars: 128,
  forwardedHops: 32,
  rateWindows: 50_000,
  rateWindowMs: 60_000,
  /** A process takes this part of a shared limit at a time; what it does not use is how far the limit errs. */
  rateSharePart: 0.02,
  /** Buckets in one claim on the shared windows. */
  rateClaimBuckets: 1_000,
  /** A claim without an answer: from then on each process counts for itself. */
  rateClaimMs: 1_000,
  /** How often a database that was away is asked again. */
  rateProbeMs: 1_000,
  /** How long a reader of a streamed answer may take nothing before it is cut off. */
  streamStallMs: 30_000,
  upstreamResponseBytes: 10 * 1024 * 1024,

  // Idempotency
  idempotencyWindowMs: 600_000,
  /** A longer answer is not kept; its key answers that it cannot be replayed. */
  idempotencyAnswerBytes: 5 * 1024 * 1024,
  /** A caller waits no longer than this for his answer to be kept. */
  idempotencyStoreMs: 3_000,
  /** How often a key is looked at that others take and free in the same instant. */
  idempotencyLooks: 5,
  /** Outcomes that the database could not take yet, tried again each second. */
  unwrittenOutcomes: {
    ...{ most: 10_000, bytes: 32 * 1024 * 1024, perTick: 100, retryMs: 1_000 },
    /** A claim that got no answer is looked for once more so long after the database is back. */
    doubtMs: 5_000,
  },

  // Pruning of keys and rate windows
  pruneEveryMs: 15_000,
  pruneBatch: 1_000,
  pruneBatchesPerTick: 10,
} as const;
