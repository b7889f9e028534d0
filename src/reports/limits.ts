/** Limits of reports, of the roll-up behind them and of the record of refusals. */
export const REPORT_LIMITS = {
  /** Rows of one report. The totals of further rows are reported as one. */
  rows: 1_000,
  /** Days of one series, and so the rows of a report by day. */
  days: 4_000,
  rollUp: {
    everyMs: 2_000,
    /** Agents that one statement looks through for charges behind their cursors. */
    agentsPerLook: 500,
    agentsPerStatement: 8,
    /** Charges, and changes of reconciled rows, of one agent that one statement adds. */
    rowsPerAgent: 2_000,
    statementsPerTick: 25,
  },
  refusals: {
    flushMs: 1_000,
    /** Refusals of one agent and UTC day that are kept as rows beside their counts. */
    rowsPerDay: 1_000,
    keptDays: 30,
    /** Agents whose refusals are counted between two writes. Refusals of further agents are only logged. */
    agents: 2_000,
    /** Rows that wait for the next write. Further refusals are counted, and have no row. */
    waitingRows: 2_000,
    hostChars: 255,
    prune: { everyMs: 60_000, batch: 1_000, batchesPerTick: 10 },
  },
} as const;
