/** Limits of spend controls, attribution and reports. */
export const SPEND_LIMITS = {
  tag: {
    idChars: 128,
    valueBps: { min: 1, max: 100_000 },
  },
  policy: {
    /** Policies in force that callers made. The session limit and the budgets of keys are not counted. */
    perAgent: 64,
    perTeam: 64,
    /** Expired and revoked policies that a list shows, newest first. */
    pastListed: 200,
    matchKeyChars: 255,
    labelChars: 255,
    windowSeconds: { min: 60, max: 315_360_000, default: 86_400 },
    qualityWindowSeconds: { min: 60, max: 31_536_000, default: 86_400 },
    qualityBps: 10_000,
    preBorrowSeconds: { default: 3_600, max: 86_400 },
    /** Largest Unix time that is accepted: the last second of the year 9999, since later dates cannot be written. */
    unixSeconds: 253_402_300_799,
  },
  budget: {
    windowSeconds: { min: 60, max: 31_536_000 },
    keyWindowSeconds: 30 * 86_400,
  },
  awareness: {
    thresholdsPerAgent: 20,
    /** Longest age of a team's cap counters in an answer that only reports them. */
    teamReadingMs: 1_000,
    /** Time that an answer waits for the team's counters. After this time the answer does not report the amount that is left. */
    teamReadingWaitMs: 250,
    teamReadingsKept: 1_000,
    /** Largest quantity of one unit in an estimate: within it a price is exact at any rate. */
    estimateQuantity: 1_000_000_000,
  },
  report: {
    scoreBps: 10_000,
    noteChars: 500,
    actions: { default: 100, max: 500 },
    charges: { default: 20, max: 100 },
    models: 500,
    rollupDays: 30,
  },
  sync: {
    bodyBytes: 1024 * 1024,
    events: 5_000,
    /** Bytes of a line. A longer line is rejected without being held. */
    lineBytes: 16 * 1024,
    /** Lines that are read before other work of the process gets a turn. */
    linesPerTurn: 32,
    rowsPerInsert: 500,
    nameChars: 256,
    tokens: 2_147_483_647,
    /** Upper bound of an event's cost: a billion dollars. More would not fit many such events. */
    costRaw: 1_000_000_000_000_000n,
    /** Unix seconds of the years 2000 to 2099: milliseconds that are taken for seconds fall outside. */
    timeSec: { min: 946_684_800, max: 4_102_444_799 },
  },
} as const;
