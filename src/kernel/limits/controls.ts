/** Limits of spend controls, attribution and reports. */
export const CONTROL_LIMITS = {
  // Tags
  taskIdChars: 128,
  taskValueBps: { min: 1, max: 100_000 },

  // Spend controls
  /** Policies in force that callers made. The session limit and the budgets of keys are not counted. */
  policiesPerAgent: 64,
  policiesPerTeam: 64,
  /** Expired and revoked policies that a list shows, newest first. */
  pastPoliciesListed: 200,
  matchKeyChars: 255,
  policyLabelChars: 255,
  windowSeconds: { min: 60, max: 315_360_000, default: 86_400 },
  budgetWindowSeconds: { min: 60, max: 31_536_000 },
  qualityWindowSeconds: { min: 60, max: 31_536_000, default: 86_400 },
  qualityBps: 10_000,
  keyBudgetWindowSeconds: 30 * 86_400,
  preBorrowSeconds: { default: 3_600, max: 86_400 },
  /** Largest Unix time that is accepted: the last second of the year 9999, since later dates cannot be written. */
  unixSeconds: 253_402_300_799,

  thresholdsPerAgent: 20,
  /** Longest age of a team's cap counters in an answer that only reports them. */
  teamReadingMs: 1_000,
  /** Time that an answer waits for the team's counters. After this time the answer does not report the amount that is left. */
  teamReadingWaitMs: 250,
  teamReadingsKept: 1_000,
  /** Largest quantity of one unit in an estimate: within it a price is exact at any rate. */
  estimateQuantity: 1_000_000_000,

  // Attribution
  maxScoreBps: 10_000,
  outcomeNoteChars: 500,
  actionsListed: { default: 100, max: 500 },
  chargesListed: { default: 20, max: 100 },
  usageModelsListed: 500,
  rollupDays: 30,

  // Reports of purchases made elsewhere
  syncBytes: 1024 * 1024,
  syncEvents: 5_000,
  /** Bytes of a line. A longer line is rejected without being held. */
  syncLineBytes: 16 * 1024,
  /** Lines that are read before other work of the process gets a turn. */
  syncLinesPerTurn: 32,
  syncRowsPerInsert: 500,
  syncNameChars: 256,
  syncTokens: 2_147_483_647,
  /** Upper bound of an event's cost: a billion dollars. More would not fit many such events. */
  syncCostRaw: 1_000_000_000_000_000n,
  /** Unix seconds of the years 2000 to 2099: milliseconds that are taken for seconds fall outside. */
  syncTimeSec: { min: 946_684_800, max: 4_102_444_799 },
} as const;
