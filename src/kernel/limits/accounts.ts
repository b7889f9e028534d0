/** Limits of accounts, agents and keys, and of their caches in a process. */
export const ACCOUNT_LIMITS = {
  // Accounts
  agentsPerDeveloper: 5,
  keysPerAgent: 5,
  developerKeysPerAccount: 5,
  labelChars: 100,
  agentNameChars: 64,
  maxRateBps: 10_000,
  expirySeconds: { min: 60, max: 31_536_000 },
  /** Bounds in the record of a prepaid agent whose creation names no bounds: the bounds of the published command line. */
  prepaidAgent: { maxRateBps: 1_000, expirySeconds: 31_536_000 },
  closedAgentsListed: 200,
  recentChargesCounted: 10_000,
  adminPageAgents: 500,
  referenceChars: 255,
  sessionTokenSeconds: 7 * 24 * 3_600,
  /** Ended sessions of one account that are remembered until their tokens expire. One more ends all sessions of the account. */
  endedSessionsKept: 100,

  // Caches of keys
  agentKeysCached: 10_000,
  agentKeyCacheMs: 30_000,
  keyUsesKept: 10_000,
  keyUseFlushMs: 15_000,

  // Keys of developers at providers
  providerKeyChars: 512,
  providerKeysCached: 10_000,
  /** Longest age of a cached provider key: the delay until a change by another process takes effect. */
  providerKeyCacheMs: 5_000,

  // Invalidations
  invalidationOverlapMs: 60_000,
  invalidationBatch: 1_000,
  invalidationBatchesPerTick: 8,
  invalidationsRemembered: 50_000,
  invalidationRetentionMs: 3_600_000,

  // Retries of provisioning
  provisionPollMs: 2_000,
  provisionLeaseMs: 60_000,
  /**
   * Waits between attempts to provision an agent. A provider's recovery is noticed within ten minutes; each day of an outage
   * costs 144 attempts for each agent.
   */
  provisionRetry: { first: 5_000, max: 600_000 },
  provisionBatch: 10,
} as const;
