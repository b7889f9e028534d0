/** Every number of the specification's Limits section, and every default and bound that this server adds. */
export const LIMITS = {
  // Accounts
  agentsPerDeveloper: 5,
  keysPerAgent: 5,
  developerKeysPerAccount: 5,
  labelChars: 100,
  agentNameChars: 64,
  maxRateBps: 10_000,
  expirySeconds: { min: 60, max: 31_536_000 },
  signatureWindowSeconds: 300,
  signatureHexChars: 8_192,
  closedAgentsListed: 200,
  recentChargesCounted: 10_000,
  adminPageAgents: 500,
  referenceChars: 255,
  sessionTokenSeconds: 7 * 24 * 3_600,

  // Tags
  taskIdChars: 128,
  taskValueBps: { min: 1, max: 100_000 },
  idempotencyKeyChars: 255,

  // Spend controls
  /** Living ones that their callers made; the limit of the session and the budgets of keys come on top. */
  policiesPerAgent: 64,
  policiesPerTeam: 64,
  /** Expired and revoked ones that a list shows, newest first. */
  pastPoliciesListed: 200,
  matchKeyChars: 255,
  policyLabelChars: 255,
  windowSeconds: { min: 60, max: 315_360_000, default: 86_400 },
  budgetWindowSeconds: { min: 60, max: 31_536_000 },
  qualityWindowSeconds: { min: 60, max: 31_536_000, default: 86_400 },
  qualityBps: 10_000,
  keyBudgetWindowSeconds: 30 * 86_400,
  preBorrowSeconds: { default: 3_600, max: 86_400 },
  /** The last second of the year 9999, beyond which no date is written. */
  unixSeconds: 253_402_300_799,

  // Attribution
  maxScoreBps: 10_000,
  outcomeNoteChars: 500,
  actionsListed: { default: 100, max: 500 },
  usageModelsListed: 500,
  rollupDays: 30,

  // Reports of what was bought elsewhere
  syncBytes: 1024 * 1024,
  syncEvents: 5_000,
  /** A longer line is rejected without being held. */
  syncLineBytes: 16 * 1024,
  /** Lines between two looks at what else the process has to do. */
  syncLinesPerTurn: 32,
  syncRowsPerInsert: 500,
  syncNameChars: 256,
  syncTokens: 2_147_483_647,
  /** A billion dollars, and more would not fit many such events. */
  syncCostRaw: 1_000_000_000_000_000n,
  /** The years 2000 to 2099: milliseconds taken for seconds fall outside. */
  syncTimeSec: { min: 946_684_800, max: 4_102_444_799 },

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

  // Requests a minute
  developerKeyPerMinute: 100,
  gatewayPerMinute: 300,
  ledgerSyncPerMinute: 60,
  /** What an agent's own key changes of its controls, and reports of its actions. */
  agentControlPerMinute: 300,
  ipPerMinute: 60,
  agentProxyPerMinute: 3_000,
  globalPerMinute: 12_000,

  // Bodies and headers
  jsonBodyBytes: 1024 * 1024,
  chatBodyBytes: 10 * 1024 * 1024,
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

  // Sockets
  socketMessageBytes: 1024 * 1024,
  socketHardMessageBytes: 16 * 1024 * 1024,
  socketBackpressureBytes: 1024 * 1024,
  socketsPerAgent: 20,
  socketsPerAddress: 2_500,
  socketPingSeconds: 120,
  closeReasonBytes: 123,
  transcriptionIdleSeconds: 60,
  /** Audio may arrive this far ahead of real time; a client that sends faster is cut off. */
  audioAheadSeconds: 120,
  grammarChars: 16_384,
  /** After the last audio: how long the remaining finals may take. */
  transcriptFinishMs: 10_000,
  /** What may be unsent of generated speech before synthesis waits for the client. */
  speechUnsentBytes: 256 * 1024,
  speechDeltaMs: 200,
  liveSessions: 10_000,

  // Realtime sessions
  /** Longer speech is committed by itself. One turn's reserve covers twice as much. */
  utteranceSeconds: 60,
  /** A commit of less than this holds nothing to transcribe. */
  commitMinMs: 100,
  realtimeItems: 256,
  realtimeItemChars: 16_384,
  realtimeConversationChars: 131_072,
  realtimeInstructionsChars: 16_384,
  realtimeTools: 64,
  realtimeToolsChars: 32_768,
  realtimeInputTokens: 4_096,
  realtimeTurnMs: 120_000,
  /** A decoder goes back to the pool when its session has not spoken for this long. */
  realtimeDecoderIdleMs: 30_000,
  realtimeEventsPerSecond: 200,
  realtimeEventBurst: 2_000,
  realtimeIdleSeconds: 900,
  sampleRateHz: { min: 8_000, max: 48_000 },

  // Money
  marginBps: 500,
  /** A billion dollars. A thousand such credits still fit a balance. */
  creditRaw: 1_000_000_000_000_000n,
  transcriptionReserveSeconds: 10,
  defaultOutputTokens: 1_024,

  // Spend controls
  thresholdsPerAgent: 20,
  /** How old what counts under a team's caps may be where an answer only tells of it. */
  teamReadingMs: 1_000,
  /** An answer waits no longer for that reading, and then tells nothing of what is left. */
  teamReadingWaitMs: 250,
  teamReadingsKept: 1_000,
  /** Of any one unit in an estimate: a price of so much can be computed exactly, whatever the rates. */
  estimateQuantity: 1_000_000_000,

  // Ledger
  /** Operations that wait in a process, over all agents; the next one is refused at once. */
  ledgerInboxOperations: 20_000,
  ledgerBatchOperations: 512,
  ledgerBatchParts: 256,
  ledgerCallsInFlight: 2,
  ledgerFencesInFlight: 2,
  /** Misses of its fence after which an agent's row is taken for a short sql transaction. */
  ledgerMissesBeforeFence: 2,
  /** Parts of a busy agent decided under the lock after that, before it is tried without again. */
  ledgerWaryParts: 8,
  /** An agent with so many operations in one part is busy. */
  ledgerBusyOperations: 8,
  /** A caller is told that the database is away; what it asked for may still be carried out. */
  ledgerGiveUpMs: 10_000,
  /** A call without an answer is sent again: the ids make that harmless. */
  ledgerCallMs: 15_000,
  ledgerRetryMs: { min: 20, max: 1_000 },
  /** Balance actors kept in memory; beyond it the one idle for longest goes. */
  ledgerActors: 10_000,
  /** How old a reading of outcomes may be that tightens a cap. */
  qualityReadingMs: 30_000,
  journalEntriesPerCall: 1_000,
  orphansPerTick: 50,
  /** Lease rows of processes dead for this long go, once nothing refers to them. */
  leaseRetentionMs: 3_600_000,
  selfCheckAgents: 1_000,

  validBeforeSeconds: 90,

  // Health and monitoring
  healthProbeMs: 2_000,
  healthCacheMs: 1_000,
  monitoringPushMs: 15_000,
  monitoringTimeoutMs: 5_000,

  // Database
  /** The server ends a connection whose sql transaction has asked nothing for so long. */
  idleInTransactionMs: 15_000,

  // Leases and polling
  leaseMs: 15_000,
  leaseRenewMs: 5_000,
  /** By how much what is known of the database's clock is worth less at each measurement. */
  clockDoubtMs: 5,
  invalidationPollMs: 1_000,

  // What a process remembers of keys
  agentKeysCached: 10_000,
  agentKeyCacheMs: 30_000,
  keyUsesKept: 10_000,
  keyUseFlushMs: 15_000,

  // Invalidations
  invalidationOverlapMs: 60_000,
  invalidationBatch: 1_000,
  invalidationBatchesPerTick: 8,
  invalidationsRemembered: 50_000,
  invalidationRetentionMs: 3_600_000,

  // Provisioning that is tried again
  provisionPollMs: 2_000,
  provisionLeaseMs: 60_000,
  provisionRetry: { first: 5_000, max: 600_000, attempts: 20 },
  provisionBatch: 10,

  // Chain
  rpcTimeoutMs: 8_000,
  rpcAnswerBytes: 1024 * 1024,
  rpcCallsUnderWay: 32,
  walletBalanceMs: 5_000,
  walletBalancesKept: 10_000,

  // Upstreams
  upstreamConnectMs: 10_000,
  upstreamFirstByteMs: 60_000,
  upstreamIdleMs: 60_000,
  upstreamTotalMs: 600_000,
  upstreamConnections: 256,
  upstreamInFlight: 1_024,
  restAfterFailures: 3,
  sourceRestMs: { min: 1_000, max: 30_000 },

  // Gateway
  modelIdChars: 128,
  chatMessages: 10_000,
  maxOutputTokens: 10_000_000,
  completionsPerRequest: 128,
  charsPerToken: 4,
  /** What an image or another part that is not text is taken for until the upstream has counted it. */
  tokensPerOpaquePart: 1_105,
  byokFeeRaw: 2_000n,
  catalogFileBytes: 4 * 1024 * 1024,
  catalogProviders: 256,
  catalogModels: 10_000,
  sourcesPerModel: 16,

  /** The engines inside this process, each in a worker thread. */
  engines: {
    /** A worker that answers nothing for so long is ended; its calls fail. */
    hungAfterMs: 30_000,
    /** How long a worker may take to leave by itself. */
    endGraceMs: 2_000,
    /** A worker that crashes twice in a row rests, longer each time. */
    restartFirstMs: 250,
    restartMaxMs: 10_000,
    workerHeapMb: 512,
    /** Below the media loop, where the system has priorities for threads: long work further below. */
    niceness: { decoder: 5, other: 2 },

    decodersMax: 4,
    /** A decoder whose caller left so much undecoded is replaced rather than waited for. */
    decoderBacklogSeconds: 2,
    /** A stream that sends so much faster than its decoder listens fails. */
    decoderBehindSeconds: 120,
    decoderRetrySeconds: 5,
    decoderPostMs: 100,
    partialEveryMs: 200,
    /** An utterance is cut at the first quiet moment after the first figure, and anyhow at the second. */
    utteranceSoftSeconds: 12,
    utteranceHardSeconds: 20,
    /** A decoder is renewed between streams when it has heard so much: its heap is fixed. */
    decoderLifeSeconds: 600,
    /** Words of a grammar with its rules written out. */
    grammarWords: 4_096,

    speechTextChars: 10_000,
    speechChunkChars: 200,
    /** The first chunk is shorter, so that the first sound comes soon. */
    speechFirstChunkChars: 100,
    speechSpeed: { min: 0.25, max: 4 },
    speechCallsInFlight: 64,

    embedTexts: 2_048,
    embedTextChars: 8_192,
    embedBatch: 16,

    guideQuestionChars: 1_000,
    textCallsInFlight: 64,
    arithmeticChars: 200,

    vadStreams: 1_024,
    /** An answer that is later than this is no answer: the gate decides. */
    vadLateMs: 100,
    vadBatchFrames: 64,
  },
} as const;
