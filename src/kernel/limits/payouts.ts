/** Limits of USDC that this server sends out of agent wallets. */
export const PAYOUT_LIMITS = {
  /**
   * Seconds that one signature of a payout is valid. All signatures of a payout have the same nonce, so nothing depends on a
   * short validity.
   */
  payoutValidSeconds: 3_600,
  payoutsPerPass: 50,
  /** Time that a process has a claimed payout before others may claim it; each further attempt doubles it, up to `maxMs`. */
  payoutRetry: { firstMs: 60_000, maxMs: 1_800_000, doublings: 5 },
  /** Time that the answer to a close waits for its payout to be handed to the chain. */
  closePayoutMs: 5_000,

  // Passes over all agents, in the order of their ids
  emptyPass: { looked: 10_000, found: 100 },
  sweepPass: { looked: 10_000, found: 100 },
  /** Smallest amount that the sweep moves: less is not worth its gas to the operator. */
  sweepLeastRaw: 1_000_000n,
  /** Chain readings for one pass of the sweep. */
  readingsPerSweep: 20,
} as const;
