/** Limits of the Responses dialect and of stored responses. */
export const RESPONSES_LIMITS = {
  request: {
    idChars: 256,
    instructionChars: 512 * 1024,
    tools: 1_024,
    /**
     * Bytes of instructions, tools and all other members that a response repeats of its request: three events of a stream repeat
     * them.
     */
    echoBytes: 1024 * 1024,
    includes: 32,
    metadataPairs: 16,
    metadataKeyChars: 64,
    metadataChars: 512,
  },
  answer: {
    /** Bounds of one call's arguments that are shown parsed. An answer may have hundreds of such calls. */
    callJson: { depth: 32, values: 256, members: 128 },
    /**
     * Bytes by which a reader may be behind its upstream. A stream repeats its text in its last four events, which vendors send
     * at once; each may have 2 MiB, as any event of an upstream, and earlier events may still wait.
     */
    queueBytes: 12 * 1024 * 1024,
    /** Items of one answer, and parts of one item. */
    outputParts: 4_096,
  },
  kept: {
    /** Responses in a chain, each of which continues the response before it. */
    chain: 1_000,
    /** Bytes of a stored conversation that is read back, and of the items that one request refers to. */
    conversationBytes: 8 * 1024 * 1024,
    /** Bytes of a response's input and output; a larger response is not kept. */
    bytes: 4 * 1024 * 1024,
    /** Stored responses of one agent. Beyond it, and beyond `bytesPerAgent`, the least recently used ones are deleted. */
    perAgent: 2_000,
    bytesPerAgent: 64 * 1024 * 1024,
    /** Insert statements of responses at a time, and the time limit of each statement. A caller waits for its statement. */
    inserts: 2,
    insertMs: 5_000,
    /** Responses that one statement inserts together: those that ended while `inserts` statements were under way. */
    rowsPerInsert: 64,
    bytesPerInsert: 4 * 1024 * 1024,
    /** Rows or bytes that a process adds for an agent between two trims of its responses, counted for `trimmedAgents` agents. */
    trimAfterRows: 200,
    trimAfterBytes: 4 * 1024 * 1024,
    trimmedAgents: 10_000,
    /**
     * Least minutes between two renewals of a response that is continued. A renewal restarts its time to live and marks the
     * response as used.
     */
    renewedAfterMinutes: 10,
    /** Rows that the worker deletes in one pass, and passes in one run. */
    duePerPass: 500,
    passesPerTick: 20,
    itemsPerPage: 100,
    usualItemsPerPage: 20,
  },
  connection: {
    /** Time after which a WebSocket of responses closes, as with OpenAI. */
    lifeMs: 60 * 60_000,
    /** Requests that may wait on one connection while another is answered, and their characters together. */
    waiting: 4,
    waitingChars: 2 * 1024 * 1024,
    /** Bytes of unstored conversations in memory: of one connection, and of all connections. */
    bytes: 2 * 1024 * 1024,
    allBytes: 256 * 1024 * 1024,
    /**
     * Unsent bytes at which the next event of an answer waits, and the time after which a client that takes nothing is cut off.
     */
    unsentBytes: 256 * 1024,
    stallMs: 30_000,
  },
} as const;
