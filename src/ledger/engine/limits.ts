/** Limits of the ledger's actors and writer, and of the processes that share the ledger. */
export const LEDGER_LIMITS = {
  batch: {
    /** Operations of all agents that wait in a process; one more is refused at once. */
    inboxOperations: 20_000,
    operations: 512,
    parts: 256,
  },
  fence: {
    inFlight: 2,
    /** Failed version checks (misses of the fence) after which an agent's row is locked for a short SQL transaction. */
    missesBefore: 2,
    /** Parts of a busy agent that are decided under that lock before the next attempt without the lock. */
    waryParts: 8,
    /** Operations in one part at which an agent counts as busy. */
    busyOperations: 8,
  },
  calls: {
    inFlight: 2,
    /** Time after which a caller gets the error that the database is away. The ledger may still carry out the operation. */
    giveUpMs: 10_000,
    /** Time after which a ledger call without an answer is sent again. Its ids make the repetition harmless. */
    timeoutMs: 15_000,
    retryMs: { min: 20, max: 1_000 },
    journalEntries: 1_000,
  },
  actors: {
    /** Balance actors kept in memory. Beyond this number the actor that was idle for longest is removed. */
    most: 10_000,
    /** Longest age of a process's copy of an agent's balance, for decisions that the ledger makes again later. */
    recallMs: 1_000,
    /** Longest age of the outcomes that a quality rule reads to tighten a cap. */
    qualityMs: 30_000,
  },
  orphans: {
    /** Sessions or holds of dead processes that are resolved in one pass, and passes in one tick. */
    perPass: 50,
    passesPerTick: 200,
  },
  lease: {
    lifeMs: 15_000,
    /** Interval of a lease's renewals, and time limit of each renewal. Three renewals without an answer fit into one lease. */
    renewMs: 3_000,
    answerMs: 2_000,
    /** Time after which the lease row of a dead process is deleted, once nothing refers to the row. */
    retentionMs: 3_600_000,
  },
  selfCheckAgents: 1_000,
} as const;
