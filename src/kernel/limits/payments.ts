/** Limits of payments to vendors. */
export const PAYMENT_LIMITS = {
  // The proxy
  /** Characters of a vendor's error text that a refusal quotes. */
  vendorWordsChars: 500,

  // Checks and quotes of targets before anything is paid

  // Payments on the chain
  reconcileEveryMs: 15_000,

  // Second check of wallets
} as const;
