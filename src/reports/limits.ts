/** Limits of reports, of the roll-up behind them and of the record of refusals. */
export const REPORT_LIMITS = {
  /** Rows of one report. The totals of further rows are reported as one. */
  rows: 1_000,
  /** Days of one series, and so the rows of a report by day. */
  days: 4_000,
  /** Days of one report that a caller names. */
  window: { usual: 30, most: 90 },
  activity: {
    page: { usual: 50, most: 100 },
    /** Rows that one page reads in search of the rows of one key. */
    scanned: 5_000,
  },
  /** Charges in a CSV export. */
  csvRows: 10_000,
  export: {
    /** Rows that are read at a time, and rows that are written in one turn of the event loop. */
    rowsPerQuery: 500,
    rowsPerTurn: 50,
    /** Exports that run at a time: of one account, and in this process. */
    perAccount: 1,
    perProcess: 8,
    /** Time after which an export is ended, however slowly its client reads. */
    lifeMs: 3_600_000,
  },
  refusalPage: { usual: 50, most: 200 },
  search: { textChars: 256, resultsPerKind: 5 },
  toolCall: { bodyBytes: 65_536, nameChars: 128, codeChars: 128, durationMs: 86_400_000 },
  reputation: { leastCharges: 20 },
  /** Reports of customers and tasks whose dearest groups a process remembers. */
  top: {
    reports: 64,
    /** Longest list of groups that is read by remembered groups. */
    groups: 100,
    /** Remembered groups for each group of the list. */
    rememberedTimes: 4,
    /** Changed groups beyond which the dearest groups are read anew. */
    changes: 2_000,
  },
  rollUp: {
    everyMs: 2_000,
    /** Agents that one statement scans for charges behind their cursors, and such scans of one tick. */
    agentsPerScan: 500,
    scansPerTick: 5,
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
