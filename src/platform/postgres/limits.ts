/** Limits of the connections to the database, and of its clock. */
export const POSTGRES_LIMITS = {
  /**
   * Idle time after which the database ends a connection with an open sql transaction. Shorter than the time that other
   * processes wait for the locks of a frozen process.
   */
  idleInTransactionMs: 5_000,
  /** Milliseconds of doubt that each measurement adds to the last measured time of the database's clock. */
  clockDoubtMs: 5,
} as const;
