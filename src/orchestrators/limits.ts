/** Limits of the connections to voice platforms and of what the platforms send. */
export const ORCHESTRATOR_LIMITS = {
  connection: {
    perAccount: 500,
    secretChars: { min: 8, max: 512 },
    labelChars: 128,
  },
  inbound: {
    /** Bytes of a body. The report of a long call lists its words twice, with their times. */
    bodyBytes: 4 * 1024 * 1024,
    /** Largest deviation of a signature's time from this server's clock. */
    signatureMs: 5 * 60_000,
    /** Time of each look-up, after which the database counts as away. A question before a call takes two. */
    lookUpMs: 900,
    /** Time that a deny waits for its event to be written. */
    tellMs: 150,
    /** Shortest time between two notes of the last event of a connection. */
    noteMs: 5_000,
    /** Requests of one connection to one process. */
    perConnection: { burst: 6_000, perMinute: 6_000 },
  },
  report: {
    callIdChars: 256,
    /** Largest cost of one call: a million dollars. */
    costRaw: 1_000_000_000_000n,
    durationSeconds: 31_536_000,
    /** Marks of earlier reports that are kept for each call. */
    marks: 16,
    /** Attempts to take a report while other reports of the same call are taken. */
    attempts: 10,
    summaryChars: 4_000,
    transcriptChars: 32_000,
    urlChars: 2_048,
    structuredBytes: 16_384,
    textChars: 256,
  },
} as const;

/** Connections or agents that are looked up in one statement, and statements of one kind at a time. */
export const LOOK_UPS = { most: 500, atOnce: 4 } as const;
