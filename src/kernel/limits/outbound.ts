/** Of everything that is bought or asked elsewhere. */
export const OUTBOUND_LIMITS = {
  // Gateway
  modelIdChars: 128,
  chatMessages: 10_000,
  maxOutputTokens: 10_000_000,
  completionsPerRequest: 128,
  charsPerToken: 4,
  /** What an image or another part that is not text is taken for until the upstream has counted it. */
  tokensPerOpaquePart: 1_105,
  byokFeeRaw: 2_000n,
  catalogFileBytes: 4 * 1024 * 1024,
  catalogProviders: 256,
  catalogModels: 10_000,
  sourcesPerModel: 16,

  // Upstreams
  upstreamConnectMs: 10_000,
  upstreamFirstByteMs: 60_000,
  upstreamIdleMs: 60_000,
  upstreamTotalMs: 600_000,
  upstreamConnections: 256,
  upstreamInFlight: 1_024,
  restAfterFailures: 3,
  sourceRestMs: { min: 1_000, max: 30_000 },

  // Chain
  rpcTimeoutMs: 8_000,
  rpcAnswerBytes: 1024 * 1024,
  rpcCallsUnderWay: 32,
  walletBalanceMs: 5_000,
  walletBalancesKept: 10_000,

  // Payments
  validBeforeSeconds: 90,
} as const;
