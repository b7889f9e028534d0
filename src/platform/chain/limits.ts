/** Limits of requests to the chain's node, of their responses, and of signatures. */
export const CHAIN_LIMITS = {
  signature: {
    windowSeconds: 300,
    hexChars: 8_192,
  },
  rpc: {
    timeoutMs: 8_000,
    responseBytes: 1024 * 1024,
    logResponseBytes: 16 * 1024 * 1024,
    underWay: 32,
    errorChars: 200,
  },
  balances: {
    freshMs: 5_000,
    kept: 10_000,
  },
  logs: {
    walletsPerQuery: 500,
    /** Requests to the node for one read of a range, at most, even when the node allows only small answers. */
    queriesPerRead: 512,
    /** Newest headers that are searched for a log which proves how far the node's logs reach: half a minute of blocks. */
    witnessBlocks: 16,
  },
  multicall: {
    calls: 500,
    underWay: 4,
    /** Contract calls of one read on a chain without the multicall contract, where each call is a request of its own. */
    singleReads: 100,
    singleUnderWay: 8,
  },
  breaker: {
    tickMs: 5_000,
    /** Longest age of a reading that the breaker uses. An older reading counts as an unreadable chain. */
    readingMs: 30_000,
    /** Failed readings in a row after which the node counts as away. */
    failedReadings: 2,
    /** Time that a start waits for the first reading, so that the first caller need not wait. */
    firstReadingMs: 2_000,
    priceAgeSeconds: 3_600,
    /** Seconds added to `priceAgeSeconds`, because the update of an hourly feed still waits for a block. */
    priceAgeMarginSeconds: 60,
    deviationBps: 2_000n,
    sequencerGraceSeconds: 3_600,
  },
  facilitator: {
    waiting: 64,
    gas: 500_000n,
    feeWei: 100_000_000_000n,
    /** Time that this server's own count of its transactions overrides a node that reports fewer. */
    numberMs: 30_000,
  },
} as const;
