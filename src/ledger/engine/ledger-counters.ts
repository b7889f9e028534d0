/** Counters of this process's ledger since it started; the edge reads them for its metrics. */
export type LedgerCounters = {
  operations: number;
  batches: number;
  /**
   * Number of parts that another process's write made stale (`misses`), and the most misses of one operation (`mostMisses`).
   */
  misses: number;
  mostMisses: number;
  fences: number;
  /** Number of calls sent again because the outcome of the first call was unknown. */
  resends: number;
  /** Number of operations whose id belongs to another posting. */
  conflicts: number;
  /** Number and total amount of the shortfalls: settlements beyond their hold, and corrections beyond the agent's funds. */
  shortfalls: number;
  shortfallRaw: bigint;
  refusedFull: number;
  /** Number of callers that got the error that the database is away. */
  gaveUp: number;
  /** Number of operations that the database cannot carry out at all. */
  failed: number;
};

export const createLedgerCounters = (): LedgerCounters => ({
  operations: 0,
  batches: 0,
  misses: 0,
  mostMisses: 0,
  fences: 0,
  resends: 0,
  conflicts: 0,
  shortfalls: 0,
  shortfallRaw: 0n,
  refusedFull: 0,
  gaveUp: 0,
  failed: 0,
});
