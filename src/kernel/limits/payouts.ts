/** Of USDC that leaves agent wallets by our own doing. */
export const PAYOUT_LIMITS = {
  /** For how long one signature holds. The nonce is the same in all of them, so nothing depends on it being short. */
  payoutValidSeconds: 3_600,
  payoutsPerPass: 50,
  /** A process that takes a payout has it for so long; every attempt after that waits twice as long as the one before. */
  payoutRetry: { firstMs: 60_000, maxMs: 1_800_000, doublings: 5 },
  /** How long the answer to a close waits for its payout to be handed to the chain. */
  closePayoutMs: 5_000,

  // Passes over all agents, in the order of their ids
  emptyPass: { looked: 10_000, found: 100 },
  sweepPass: { looked: 10_000, found: 100 },
  /** Less than this is not worth its gas to the operator. */
  sweepLeastRaw: 1_000_000n,
  /** One pass of the sweep for so many readings of the chain. */
  readingsPerSweep: 20,
} as const;
