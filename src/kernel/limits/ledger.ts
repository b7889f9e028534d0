/** Limits of money, of the database that keeps it and of the processes that share it. */
export const LEDGER_LIMITS = {
  // Money
  marginBps: 500,
  /** Largest credit: a billion dollars. A balance can hold a thousand such credits. */
  creditRaw: 1_000_000_000_000_000n,
  transcriptionReserveSeconds: 10,
  defaultOutputTokens: 1_024,

  // Ledger
  /** Operations of all agents that wait in a process; one more is refused at once. */
  ledgerInboxOperations: 20_000,
  ledgerBatchOperations: 512,
  ledgerBatchParts: 256,
  ledgerCallsInFlight: 2,
  ledgerFencesInFlight: 2,
  /** Failed version checks (misses of the fence) after which an agent's row is locked for a short SQL transaction. */
  ledgerMissesBeforeFence: 2,
  /** Parts of a busy agent that are decided under that lock before the next attempt without the lock. */
  ledgerWaryParts: 8,
  /** Operations in one part at which an agent counts as busy. */
  ledgerBusyOperations: 8,
  /** Time after which a caller gets the error that the database is away. The ledger may still carry out the operation. */
  ledgerGiveUpMs: 10_000,
  /** Time after which a ledger call without an answer is sent again. Its ids make the repetition harmless. */
  ledgerCallMs: 15_000,
  ledgerRetryMs: { min: 20, max: 1_000 },
  /** Balance actors kept in memory. Beyond this number the actor that was idle for longest is removed. */
  ledgerActors: 10_000,
  /** Longest age of a process's copy of an agent's balance, for decisions that the ledger makes again later. */
  ledgerRecallMs: 1_000,
  journalEntriesPerCall: 1_000,
  /** Sessions or holds of dead processes that are resolved in one pass, and passes in one tick. */
  orphansPerPass: 50,
  orphanPassesPerTick: 200,
  /** Time after which the lease row of a dead process is deleted, once nothing refers to the row. */
  leaseRetentionMs: 3_600_000,
  selfCheckAgents: 1_000,

  // Database

  // Leases and polling
  leaseMs: 15_000,
  /** Interval of a lease's renewals, and time limit of each renewal. Three renewals without an answer fit into one lease. */
  leaseRenewMs: 3_000,
  leaseAnswerMs: 2_000,
  invalidationPollMs: 1_000,

  // Health and monitoring
  healthProbeMs: 2_000,
  healthCacheMs: 1_000,
  statusCacheMs: 30_000,
  monitoringPushMs: 15_000,
  monitoringTimeoutMs: 5_000,
} as const;
