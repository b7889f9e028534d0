/** Limits of payments to vendors, and of USDC that leaves agent wallets. */
export const PAYMENT_LIMITS = {
  proxy: {
    /** Calls of one agent under way, each from its start to the last byte of its answer. */
    callsPerAgent: 256,
    bodyBytes: 10 * 1024 * 1024,
    /** Time for a vendor's answer, from the connection to the last byte: before the payment, and after it. */
    unpaidMs: 30_000,
    paidMs: 60_000,
    idleMs: 30_000,
    connectMs: 10_000,
    answerBytes: 10 * 1024 * 1024,
    /**
     * Time after which a payment without the vendor's answer is recorded as sent. With a faster answer only the outcome is
     * recorded.
     */
    sentMs: 25,
    /** Time that a paid answer waits for the update of its reservation. After it the reconciler updates the reservation. */
    bookMs: 2_000,
  },
  lateAnswer: {
    /** Time that an answer after its payment's deadline is held back for the chain's verdict, and the interval of the queries. */
    waitMs: 20_000,
    pollMs: 1_000,
    /** Time for one query of the chain about one payment. */
    chainAskMs: 10_000,
  },
  passthrough: {
    /** Lines of calls that wait to be written. Beyond this number the oldest line of a free call is forgotten. */
    waiting: 1_000,
    perInsert: 200,
    keptDays: 90,
    writeMs: 500,
  },
  quote: {
    /** Time for a target's answer, to the last byte: clients wait 15 s for ours. */
    probeMs: 10_000,
    /** Checks of targets under way. Strangers may request checks, so that the checks must leave room for callers who pay. */
    checksUnderWay: 64,
    underWay: 128,
    timeoutMs: 30_000,
    kept: 1_000,
    /**
     * Prices that are kept so that refusals can name them: the address of a target and an amount each, some megabytes at the
     * worst.
     */
    askedPricesKept: 1_000,
  },
  forecast: {
    items: 50,
    count: 10_000,
    probes: 8,
    /** Time after which a forecast's call that has not begun is reported as unanswered. */
    timeoutMs: 12_000,
  },
  historyPage: { most: 100, usual: 50 },
  chain: {
    /** Time that one process holds the claim to read the chain. A longer reading still counts, unless another was faster. */
    claimMs: 30_000,
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
  },
  released: {
    /** Time that released payments are watched for a late transfer on the chain. */
    watchedSeconds: 3_600,
    watchedPerTick: 5_000,
  },
  audit: {
    /** Chain readings for one round over all wallets: a round every five minutes. */
    readingsPerRound: 20,
    /** Wallets of one pass: the number that one multicall and one query for logs take. */
    walletsPerPass: 500,
    /** Blocks by which rounds overlap: ten minutes, so that each block is read two or three times. */
    overlapBlocks: 300,
    /** Blocks read for one page at most. The number is divided and multiplied as in `chain.blocksPerTick`. */
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
  payout: {
    perTick: 1_000,
    /**
     * Seconds that one signature of a payout is valid. All signatures of a payout have the same nonce, so nothing depends on a
     * short validity.
     */
    validSeconds: 3_600,
    perPass: 50,
    /** Time that a process has a claimed payout before others may claim it; each further attempt doubles it, up to `maxMs`. */
    retry: { firstMs: 60_000, maxMs: 1_800_000, doublings: 5 },
    /** Time that the answer to a close waits for its payout to be handed to the chain. */
    closeMs: 5_000,
    emptyPass: { looked: 10_000, found: 100 },
    sweepPass: { looked: 10_000, found: 100 },
    /** Smallest amount that the sweep moves: less is not worth its gas to the operator. */
    sweepLeastRaw: 1_000_000n,
    /** Chain readings for one pass of the sweep. */
    readingsPerSweep: 20,
  },
  transfer: {
    /** Transfers of one account that may still move something. */
    openPerAccount: 100,
    /** Seconds in which a prepared transfer must be executed, and in which one that the developer signs must be sent. */
    preparedSeconds: 900,
    signedSeconds: 86_400,
    page: { most: 100, usual: 50 },
    /** Looks at the chain for transactions that developers have reported. */
    watch: {
      perPass: 20,
      firstMs: 15_000,
      maxMs: 1_800_000,
      doublings: 7,
      submittedSeconds: 172_800,
    },
    tidied: 500,
  },
  ramp: {
    /** Requests of clients that wait for the provider at a time. */
    underWay: 16,
    timeoutMs: 10_000,
    answerBytes: 256 * 1024,
    /** Seconds that the credential of one request is valid, as the provider allows at most. */
    credentialSeconds: 120,
    sessionsPage: { most: 50, usual: 20 },
    /** Days that a session of the on-ramp is listed. */
    sessionDays: 90,
    /** Seconds that a session's token is valid at the provider. */
    tokenSeconds: 300,
    fiatMost: 100_000,
  },
  cashOut: {
    openPerAccount: 20,
    page: { most: 100, usual: 25 },
    perPass: 20,
    /** Waits between two looks at one order; each look without news doubles the wait. */
    retry: { firstMs: 15_000, maxMs: 600_000, doublings: 6 },
    /** Seconds after which a state ends by itself. The provider gives the user 30 minutes to send. */
    deadlineSeconds: {
      awaiting_form: 86_400,
      awaiting_send: 2_700,
      sent: 604_800,
      processing: 604_800,
    },
    /** Seconds after which another process goes on with an order whose first leg was not written. */
    createdSeconds: 60,
    /** Sales of an order that are read; the newest come first. */
    sales: 20,
  },
} as const;
