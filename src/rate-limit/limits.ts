/** Limits of the number of requests, and of what a process remembers to count them. */
export const RATE_LIMITS = {
  usual: {
    developerKeyPerMinute: 100,
    gatewayPerMinute: 300,
    /** Calls with the caller's own provider key. A call that the pool serves after all counts under `gatewayPerMinute` too. */
    byokPerMinute: 3_000,
    ledgerSyncPerMinute: 60,
    /** Changes of spend controls and reports of actions with an agent's own key. */
    agentControlPerMinute: 300,
    /** Requests of each caller on routes without a limit of their own, so that no caller takes the share of all others. */
    callerPerMinute: 3_000,
    ipPerMinute: 60,
    /**
     * Requests a minute on `/v1/*` of each group: all callers with money, all other callers with a key, all without a credential.
     */
    globalPerMinute: 12_000,
    /**
     * Requests a minute that one party may send once `globalPerMinute` is used up. A party is an account with money, a network
     * of accounts without money, or a network without a credential.
     */
    leastShares: { funded: 3_000, free: 120, anonymous: 60 },
    /** Requests of each client network without a credential. A reader of the catalogue or of a status page needs a few. */
    anonymousRequests: { burst: 600, perMinute: 600 },
    /**
     * Failed credentials of each client network. A credential takes a token before the look-up and gets the token back when it is
     * valid, so `burst` also bounds the valid credentials that are looked up at once: all agents of one company, behind one
     * address, after a restart.
     */
    failedCredentials: { burst: 2_000, perMinute: 600 },
  },
  numberSearchesPerMinute: 30,
  /** Invites of each account, each of which sends a mail. */
  invitesPerMinute: 10,
  /** Valid credentials that are remembered, so that failures of strangers on the same network do not have them refused. */
  provenCredentials: 50_000,
  /** Client networks whose remaining tokens are remembered. */
  addressesCounted: 50_000,
  window: {
    counted: 50_000,
    lifeMs: 60_000,
    /** Part of a shared limit that a process takes at a time. The limit errs by the unused part. */
    sharePart: 0.02,
    /** Buckets in one claim on the shared windows. */
    claimBuckets: 1_000,
    /** Time after which a claim without an answer has failed. Each process then counts for itself. */
    claimMs: 1_000,
    /** Interval of the attempts to reach a database that was away. */
    probeMs: 1_000,
  },
} as const;
