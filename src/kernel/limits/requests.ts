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
  /** Of each caller on routes that have no limit of their own: no one caller takes all that callers have together. */
  callerPerMinute: 3_000,
  ipPerMinute: 60,
  agentProxyPerMinute: 3_000,
  /** On `/v1/*`, of all callers with money together, of all others with a key, and of all requests without a credential. */
  globalPerMinute: 12_000,
  /**
   * Requests a minute that one party may send once `globalPerMinute` is used up. A party is an account with money, a network
   * of accounts without money, or a network without a credential.
   */
  leastShares: { funded: 3_000, free: 120, anonymous: 60 },
  /** Of each client network, without a credential. Someone who reads the catalogue or a status page needs a few. */
  anonymousRequests: { burst: 600, perMinute: 600 },
  /**
   * Of each client network: credentials that were looked up in vain. A credential takes its token before the look-up
   * and gets it back when it proves good, so the burst is also how many good ones may be looked up at once: all the
   * agents of one company, behind one address, after a restart.
   */
  failedCredentials: { burst: 2_000, perMinute: 600 },
  /** Credentials that are remembered as good ones, so that a network's strangers do not have them refused. */
  provenCredentials: 50_000,
  /** Client networks that are remembered with what they have left. */
  addressesCounted: 50_000,
  /**
   * Requests that are answered in the turn of the event loop that brought them. Further ones wait for the next turn, in
   * which a client that has written thousands of requests into one packet is cut off.
   */
  requestsPerTurn: 32,

  // Connections
  connections: 20_000,
  /** More than `socketsPerAddress`: a carrier's calls and its requests come from the same few machines. */
  connectionsPerNetwork: 3_000,
  /** The part of the process's descriptors that connections may take; files, database and upstreams have the rest. */
  connectionDescriptors: 0.75,
  /** How often the kernel is asked at most whose the open connections are. */
  censusEveryMs: 50,
  /** After a long table it rests longer: reading a line takes some microseconds, and of ended connections there may be 100,000. */
  censusRestMsPerLine: 0.01,

  // Bodies and headers
  /** Of a JSON text that a client sends. */
  requestJson: { depth: 128, values: 100_000, members: 25_000 },
  /** Of a chat: its text is more than the longest context of any model, in Latin letters. */
  chatJson: { depth: 128, values: 100_000, members: 25_000, textBytes: 4 * 1024 * 1024 },
  /** Of the arguments of all earlier calls in a chat, where they are read: the bounds of the chat see their texts alone. */
  callArguments: { values: 200_000, members: 50_000 },
  /** Of a longer one, each step of the reading takes a turn of the event loop of its own. */
  jsonBytesPerTurn: 64 * 1024,
  /** As many values and members of one are built in a few milliseconds. */
  jsonPartsPerTurn: 10_000,
  /** How much is copied in one turn of the event loop. */
  copyBytesPerTurn: 1024 * 1024,
  /** Of a request for embeddings, whose inputs may be lists of tokens: 2,048 of them with some 300,000 in all. */
  embeddingJson: { depth: 32, values: 400_000, members: 1_000 },
  /** Of an answer of others: the odds of each token make a long one. */
  upstreamJson: { depth: 128, values: 500_000, members: 100_000 },
  jsonBodyBytes: 1024 * 1024,
  /** With images, sound and files in it. */
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
  /** And those of one agent, one developer, or one network without a credential: two files of the largest size. */
  bodyBytesPerCaller: 64 * 1024 * 1024,
  /** A body beyond its limit is read away this far, so that the client can read the refusal. */
  bodyDiscardBytes: 16 * 1024 * 1024,
  /** Of a body that is read while it arrives: beyond so much unread the connection rests. */
  bodyStreamAheadBytes: 64 * 1024,
  requestIdChars: 128,
  /** Of a path that no route has: what its refusal quotes, and the longest that is compared with routes. */
  badPathChars: 128,
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
  /** Of the last answer of a connection: what the library may hold of it for a reader that is slow. */
  lastAnswerPieceBytes: 64 * 1024,
  /** How long a reader of a streamed answer may take nothing before it is cut off. */
  streamStallMs: 30_000,
  upstreamResponseBytes: 10 * 1024 * 1024,

  // Idempotency
  idempotencyWindowMs: 600_000,
  /** A longer answer is not kept; its key answers that it cannot be replayed. */
  idempotencyAnswerBytes: 5 * 1024 * 1024,
  /** A caller waits no longer than this for his answer to be kept. */
  idempotencyStoreMs: 3_000,
  /** How often a request tries for a key that others take and free in the same instant. */
  idempotencyLooks: 5,
  /** Outcomes that the database could not take yet, tried again each second. */
  unwrittenOutcomes: {
    most: 10_000,
    bytes: 32 * 1024 * 1024,
    perTick: 100,
    retryMs: 1_000,
    /** A claim that got no answer is looked for once more so long after the database is back. */
    doubtMs: 5_000,
  },

  // Pruning of keys and rate windows
  pruneEveryMs: 15_000,
  pruneBatch: 1_000,
  pruneBatchesPerTick: 10,
} as const;
