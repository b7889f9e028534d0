/** Counters of this process's ledger since it started; the edge reads them for its metrics. */
export type LedgerCounters = {
  operations: number;
  batches: number;
  /** Parts that another process's write made stale, and the most that any one operation has met. */
  misses: number;
  mostMisses: number;
  fences: number;
  /** Calls sent again because the outcome of the first was unknown. */
  resends: number;
  /** Number of operations whose id belongs to another posting. */
  conflicts: number;
  /** Settlements beyond their hold, or corrections beyond the agent's funds: how many, and how much in all. */
  shortfalls: number;
  shortfallRaw: bigint;
  refusedFull: number;
  /** Callers that got the error that the database is away. */
  gaveUp: number;
  /** Operations that the database cannot carry out at all. */
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
