/** Limits of developers' webhooks (spec, Limits; contract A §14). */
export const WEBHOOK_LIMITS = {
  endpoint: {
    perAccount: 10,
    urlChars: 2_048,
    descriptionChars: 256,
    /** Event patterns of one subscription. */
    patterns: 64,
    maxPerSecond: 1_000,
    /** Time after a rotation in which the old secret signs as well. */
    previousSecretMs: 86_400_000,
    /** Time without a success after which a failing endpoint is switched off. `failingSpanMs` is the least value of that time. */
    failingMs: 5 * 86_400_000,
    failingSpanMs: 43_200_000,
    /** Tests and manual retries of an account, a minute. */
    triesPerMinute: 10,
  },
  attempt: {
    timeoutMs: 10_000,
    /** Waits after failed attempts: from attempt 1 to attempt 2, and from attempt 2 to attempt 3. */
    retryAfterMs: [60_000, 300_000],
    answerBytes: 65_536,
    answerHeaderBytes: 16_384,
    /** Bytes of an answer that the log shows. */
    shownAnswerBytes: 1_024,
    /** Time that a checked destination is used before its name is looked up again. */
    checkedMs: 5_000,
  },
  queue: {
    /**
     * Attempts under way: in a process, in a process at one endpoint, and at one endpoint whose last attempts failed. The last
     * two keep silent endpoints from taking all places.
     */
    inFlight: 1_024,
    inFlightPerEndpoint: 16,
    inFlightPerFailing: 4,
    /** Time after which a claimed delivery is free again: longer than its attempt and the writing of its outcome. */
    claimMs: 30_000,
    pollMs: 250,
    eventsPerDispatch: 500,
    outcomesPerWrite: 200,
    /** Time that an outcome waits to be written together with others. */
    outcomeWaitMs: 20,
  },
  kept: {
    days: 30,
    requeuedPerStep: 200,
    prunedPerStep: 1_000,
    sweptPerStep: 1_000,
  },
  page: {
    log: { usual: 50, most: 100 },
    logOffset: 100_000,
    feed: { usual: 100, most: 500 },
  },
  capHit: {
    /** Shortest time between two reports of the same cap of the same agent. */
    intervalMs: 60_000,
    remembered: 10_000,
  },
} as const;
