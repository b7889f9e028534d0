/** Of what agents remember. */
export const MEMORY_LIMITS = {
  // The index of vectors, in each process
  /** Of vectors that are kept for searches; the spaces that were used last stay. Some 200,000 vectors of 512 numbers. */
  indexBytes: 512 * 1024 * 1024,
  /** Four rows of them fill a block. */
  indexDims: 3_072,
  /** Results of one search. */
  indexResults: 1_000,
  /** Rows that one search can be confined to by their ids. */
  indexAmong: 10_000,
  /** Of rows that travel to the index in one message, and are stored in one step. */
  indexBatchBytes: 256 * 1024,
  indexBatchRows: 512,
  /** Calls that are under way or wait, of all spaces and of one. */
  indexWaiting: 2_048,
  indexWaitingPerSpace: 64,
  /** Of one step of a search or of wiping, after which another space has its turn: a quarter of a millisecond or so. */
  indexStepBytes: 4 * 1024 * 1024,
  /** Of the thread: a search leaves some ten kilobytes of objects behind. */
  indexYoungHeapMb: 3,
} as const;
