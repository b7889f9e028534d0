/** Limits of requests to the chain's node, and of their answers. */
export const CHAIN_LIMITS = {
  // The node
  rpcTimeoutMs: 8_000,
  rpcAnswerBytes: 1024 * 1024,
  rpcLogAnswerBytes: 16 * 1024 * 1024,
  rpcCallsUnderWay: 32,
  rpcErrorChars: 200,

  // Defaults of settings

  // Balances
  walletBalanceMs: 5_000,
  walletBalancesKept: 10_000,

  // Logs and state of many wallets
  walletsPerLogQuery: 500,
  /** Requests to the node for one read of a range, at most, even when the node allows only small answers. */
  logQueriesPerRead: 512,
  /** Newest headers that are searched for a log which proves how far the node's logs reach: half a minute of blocks. */
  witnessBlocks: 16,
  callsPerMulticall: 500,
  multicallsUnderWay: 4,
  /** Contract calls of one read on a chain without the multicall contract, where each call is a request of its own. */
  singleStateReads: 100,
  singleReadsUnderWay: 8,

  // Circuit breaker
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

  // Gas
  facilitatorWaiting: 64,
  facilitatorGas: 500_000n,
  facilitatorFeeWei: 100_000_000_000n,
  /** Time that this server's own count of its transactions overrides a node that reports fewer. */
  facilitatorNumberMs: 30_000,
} as const;
