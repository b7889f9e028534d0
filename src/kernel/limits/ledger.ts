/** Limits of money, of the database that keeps it and of the processes that share it. */
export const LEDGER_LIMITS = {
  // Money

  // Ledger

  // Database

  // Leases and polling

  // Health and monitoring
  monitoringPushMs: 15_000,
  monitoringTimeoutMs: 5_000,
} as const;
