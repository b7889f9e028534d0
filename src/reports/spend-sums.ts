/** Sums of one group of calls. Pending payments and reconciled rows are part of `calls` and `costRaw`. */
export type SpendSums = {
  readonly calls: number;
  /** Calls whose status is failed, whatever they cost. */
  readonly failed: number;
  /** Payments that the chain has not decided yet. */
  readonly pending: number;
  readonly costRaw: bigint;
  readonly pendingRaw: bigint;
  /** Calls that a voice platform or a ledger upload reported after they were made. */
  readonly reconciledCalls: number;
  readonly reconciledRaw: bigint;
};

export const NO_SPEND: SpendSums = {
  calls: 0,
  failed: 0,
  pending: 0,
  costRaw: 0n,
  pendingRaw: 0n,
  reconciledCalls: 0,
  reconciledRaw: 0n,
};

export const addSums = (a: SpendSums, b: SpendSums): SpendSums => ({
  calls: a.calls + b.calls,
  failed: a.failed + b.failed,
  pending: a.pending + b.pending,
  costRaw: a.costRaw + b.costRaw,
  pendingRaw: a.pendingRaw + b.pendingRaw,
  reconciledCalls: a.reconciledCalls + b.reconciledCalls,
  reconciledRaw: a.reconciledRaw + b.reconciledRaw,
});

/** Returns the part of `whole` that `part` leaves. */
export const lessSums = (whole: SpendSums, part: SpendSums): SpendSums => ({
  calls: whole.calls - part.calls,
  failed: whole.failed - part.failed,
  pending: whole.pending - part.pending,
  costRaw: whole.costRaw - part.costRaw,
  pendingRaw: whole.pendingRaw - part.pendingRaw,
  reconciledCalls: whole.reconciledCalls - part.reconciledCalls,
  reconciledRaw: whole.reconciledRaw - part.reconciledRaw,
});
