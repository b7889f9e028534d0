/** Limits of accounts, agents, keys and wallets, and of their caches in a process. */
export const ACCOUNT_LIMITS = {
  agent: {
    perDeveloper: 5,
    nameChars: 64,
    maxRateBps: 10_000,
    expirySeconds: { min: 60, max: 31_536_000 },
    /** Bounds in the record of a prepaid agent whose creation names no bounds: the bounds of the published command line. */
    prepaid: { maxRateBps: 1_000, expirySeconds: 31_536_000 },
    closedListed: 200,
    recentChargesCounted: 10_000,
    page: 500,
    referenceChars: 255,
    /** Largest credit: a billion dollars. A balance can hold a thousand such credits. */
    creditRaw: 1_000_000_000_000_000n,
    /** Credit of an account's first agent, where the operator gives one. */
    welcomeRaw: 3_000_000n,
  },
  key: {
    perAgent: 5,
    perAccount: 5,
    labelChars: 100,
    cached: 10_000,
    cacheMs: 30_000,
    usesKept: 10_000,
    useFlushMs: 15_000,
  },
  session: {
    tokenSeconds: 7 * 24 * 3_600,
    /** Ended sessions of one account that are remembered until their tokens expire. One more ends all sessions of the account. */
    endedKept: 100,
  },
  aiTool: {
    /** Accounts whose first use of an AI tool a process remembers to have noted. */
    remembered: 50_000,
    unwritten: 10_000,
    flushMs: 5_000,
  },
  /** Characters of the name that an account shows. */
  displayNameChars: 100,
  team: {
    /** Members of an account, its own wallet among them, and open invites together. */
    seats: 10,
    emailChars: 256,
    inviteMs: 7 * 86_400_000,
    /** Time for which an ended invite is kept: its token gets another answer than an unknown token. */
    endedKeptMs: 30 * 86_400_000,
    /** Tokens that are made in a day, each of which is mailed: for one address in all accounts, and in one account. */
    sendsPerDay: { address: 5, account: 50 },
  },
  clientSecret: {
    seconds: { min: 10, max: 7_200, usual: 600 },
    /** Characters of a client secret. A secret travels in a header, and common proxies take lines of 8 KiB. */
    chars: 7_168,
    /** Bytes of a client secret's session as JSON before compression. Few of that size compress to `chars`. */
    sessionBytes: 192 * 1024,
  },
  providerKey: {
    chars: 512,
    cached: 10_000,
    /** Longest age of a cached provider key: the delay until a change by another process takes effect. */
    cacheMs: 5_000,
  },
  invalidation: {
    pollMs: 1_000,
    overlapMs: 60_000,
    batch: 1_000,
    batchesPerTick: 8,
    remembered: 50_000,
    retentionMs: 3_600_000,
  },
  provisioning: {
    pollMs: 2_000,
    leaseMs: 60_000,
    /**
     * Waits between attempts to provision an agent. A provider's recovery is noticed within ten minutes; each day of an outage
     * costs 144 attempts for each agent.
     */
    retry: { first: 5_000, max: 600_000 },
    batch: 10,
  },
  wallet: {
    kept: 10_000,
    timeoutMs: 8_000,
    answerBytes: 256 * 1024,
    reasonChars: 200,
    underWay: 64,
  },
} as const;
