/** Limits of payments to vendors. */
export const PAYMENT_LIMITS = {
  // The proxy
  /** Calls of one agent under way, each from its start to the last byte of its answer. */
  proxyCallsPerAgent: 256,
  proxyBodyBytes: 10 * 1024 * 1024,
  /** Characters of a vendor's error text that a refusal quotes. */
  vendorWordsChars: 500,
  /** Time for a vendor's answer, from the connection to the last byte: before the payment, and after it. */
  proxyUnpaidMs: 30_000,
  proxyPaidMs: 60_000,
  proxyIdleMs: 30_000,
  proxyConnectMs: 10_000,
  vendorResponseBytes: 10 * 1024 * 1024,
  /**
   * Time after which a payment without the vendor's answer is recorded as sent. With a faster answer only the outcome is
   * recorded.
   */
  proxySentMs: 25,
  /** Time that a paid answer waits for the update of its reservation. After it the reconciler updates the reservation. */
  proxyBookMs: 2_000,
  /** Time that an answer after its payment's deadline is held back for the chain's verdict, and the interval of the queries. */
  lateAnswerMs: 20_000,
  lateAnswerPollMs: 1_000,
  /** Time for one query of the chain about one payment. */
  chainAskMs: 10_000,
  /** Lines of calls that wait to be written. Beyond this number the oldest line of a free call is forgotten. */
  passthroughLinesWaiting: 1_000,
  passthroughLinesPerInsert: 200,
  passthroughKeptDays: 90,
  passthroughWriteMs: 500,

  // Checks and quotes of targets before anything is paid
  /** Time for a target's answer, to the last byte: clients wait 15 s for ours. */
  probeMs: 10_000,
  /** Checks of targets under way. Strangers may request checks, so that the checks must leave room for callers who pay. */
  checksUnderWay: 64,
  quotesUnderWay: 128,
  quoteMs: 30_000,
  quotesKept: 1_000,
  /**
   * Prices that are kept so that refusals can name them: the address of a target and an amount each, some megabytes at the
   * worst.
   */
  askedPricesKept: 1_000,
  forecastItems: 50,
  forecastCount: 10_000,
  forecastProbes: 8,
  /** Time after which a forecast's call that has not begun is reported as unanswered. */
  forecastMs: 12_000,
  historyPage: { most: 100, usual: 50 },

  // Payments on the chain
  reconcileEveryMs: 15_000,
  /** Time that one process holds the claim to read the chain. A longer reading still counts, unless another was faster. */
  chainClaimMs: 30_000,
  reservationsPerTick: 20_000,
  /** Operations given to the ledger at a time. */
  settlementsUnderWay: 500,
  /** Blocks that are read again, before the last one believed, after a reorganisation. */
  reorgBlocks: 256,
  /** Age up to which a block shows that its node is up to date, although the clocks differ a little. */
  freshBlockSeconds: 300,
  /** Blocks that the first reading of a chain goes back: some weeks. */
  firstReadBlocks: 1_500_000,
  /** Payments that are searched on the chain one by one at a time; each search takes one or more requests to the node. */
  explanationsUnderWay: 8,
  /** Blocks that are searched backwards for a log that the reading of the chain has missed. */
  lookBackBlocks: 5_000,
  /**
   * Blocks read in one tick at most. The number is divided by `fewer` after a failed tick and multiplied by `more` after a
   * successful one.
   */
  blocksPerTick: { least: 16, most: 20_000, fewer: 4, more: 2 },
  /** Time that released payments are watched for a late transfer on the chain. */
  auditSeconds: 3_600,
  auditedPerTick: 5_000,
  payoutsPerTick: 1_000,

  // Second check of wallets
  audit: {
    /** Chain readings for one round over all wallets: a round every five minutes. */
    readingsPerRound: 20,
    /** Wallets of one pass: the number that one multicall and one query for logs take. */
    walletsPerPass: 500,
    /** Blocks by which rounds overlap: ten minutes, so that each block is read two or three times. */
    overlapBlocks: 300,
    /** Blocks read for one page at most. The number is divided and multiplied as in `blocksPerTick`. */
    blocks: { least: 16, most: 5_000, fewer: 4, more: 2 },
    /** Blocks that a round may be behind at its end. A round that is farther behind is followed by the next round at once. */
    lagBlocks: 900,
    /**
     * Bytes of one answer. A smaller bound than for the first reading: a second reading must not occupy the event loop for
     * long.
     */
    answerBytes: 2 * 1024 * 1024,
    /** Differences examined in one tick, and different ranges of blocks that are searched for them. */
    differencesPerTick: 500,
    searchesPerTick: 4,
    /** Blocks before its creation from which a wallet is searched: an hour by which the clocks may differ. */
    clockMarginBlocks: 3_600,
    /** Looks that find nothing before an alarm: a difference that another process is just writing is gone by then. */
    looksBeforeAlarm: 3,
    /** Wallets with deposits that wait, which are retried in one tick, and when after the first retry in vain. */
    awaitedPerTick: 16,
    awaitedFirstMs: 5_000,
    /** Waits before a search that found nothing begins again: the first, and the longest. */
    retryFirstMs: 300_000,
    retryMaxMs: 3_600_000,
  },
} as const;
