/** Limits of outgoing requests and of the purchases made with them. */
export const OUTBOUND_LIMITS = {
  // Gateway
  /** Attempts to hold a smaller amount: for the balance, a cap of the agent, a cap of its team, and one race. */
  holdTries: 5,

  // Upstreams

  // Addresses that callers choose

  // Wallets

  // Payments
} as const;
