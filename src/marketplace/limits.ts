/** Limits of purchases from the vendors that this server has accounts with, and of its own services. */
export const MARKETPLACE_LIMITS = {
  /** Margin in basis points over the list prices of vendors. */
  marginBps: 500,
  request: {
    /** Bytes of a request to a vendor: the longest text, at four bytes a character, and its options. */
    bodyBytes: 128 * 1024,
    /** Characters of one text, unless its vendor takes fewer. `mostTextChars`: the longest text that any vendor takes. */
    textChars: 5_000,
    mostTextChars: 15_000,
    nameChars: 128,
    options: 32,
    optionChars: 256,
    optionItems: 100,
    /** Characters of a path below the address of the marketplace. */
    pathChars: 256,
    /** Bytes that are encoded as base64 in one turn: a multiple of three, so that the encoded pieces can be joined. */
    base64BytesPerTurn: 768 * 1024,
  },
  audio: {
    /** Bytes of the largest file to be transcribed. */
    bytes: 25 * 1024 * 1024,
    /** Longest duration of a file. A transcript has an entry for each word. */
    seconds: 3_600,
    timeoutMs: 30_000,
    idleMs: 10_000,
    firstByteMs: 10_000,
    redirects: 3,
    /** Slowest average rate of a file since its first byte, enforced from `afterMs` on. */
    pace: { bytesPerSecond: 64 * 1024, afterMs: 5_000 },
    /** Files that are transcribed at a time. Each is held in memory from its first byte to its transcript. */
    filesInFlight: 16,
    filesPerAccount: 8,
    filesPerAgent: 4,
  },
  sale: {
    /**
     * Time for one sale, from the first byte to a vendor to the last byte of its answer, with all requests that the sale takes.
     */
    vendorMs: 60_000,
    /** Time added to `vendorMs` for each second of a file: an hour has ten minutes in all. */
    vendorMsPerAudioSecond: 150,
    /** Bytes of a vendor's refusal that are relayed. */
    refusalBytes: 64 * 1024,
    /** Sales under way with one vendor, and of one account or agent with all vendors: their answers are held in memory. */
    perVendor: 64,
    perAccount: 48,
    perAgent: 32,
    /**
     * Bytes that the calls of a process, and of one account, hold in memory. A byte of a file counts twice (as received, and in
     * the request to its vendor), a byte of an answer three times (as received, parsed, and written for the caller).
     */
    bytesInFlight: { inAll: 384 * 1024 * 1024, perAccount: 192 * 1024 * 1024, file: 2, answer: 3 },
    /** Bytes of `bytesInFlight` that a sale reserves before it calls its vendor; most answers need no more. */
    bytes: 1024 * 1024,
  },
  health: {
    /**
     * Interval between two probes of a vendor; vendors are probed one at a time. `failuresUntilDown`: failures in a row after
     * which a vendor counts as down.
     */
    probeEveryMs: 15 * 60_000,
    probeTickMs: 30_000,
    failuresUntilDown: 2,
    /** Interval at which a process stores the outcomes of its sales, and the time that they count for the health of a vendor. */
    salesNotedEveryMs: 15_000,
    salesCountMs: 24 * 3_600_000,
  },
  tripwire: {
    /** Shortest time between two reports of the same departure of a vendor from its description to one agent. */
    everyMs: 3_600_000,
    remembered: 10_000,
  },
  /** Limits of jobs that turn documents into text. */
  documents: {
    /** Most pages of a document, as with the vendor. */
    pages: 10,
    /** Largest document at a URL, and largest document that is sent in the request as base64. */
    fileBytes: 25 * 1024 * 1024,
    inlineBytes: 4 * 1024 * 1024,
    bodyBytes: 6 * 1024 * 1024,
    /** Parts of a document that are read to count its pages: marks of types, dictionaries of page trees, streams of objects. */
    marks: 20_000,
    trees: 64,
    dictionaryBytes: 64 * 1024,
    streams: 256,
    streamBytes: 1024 * 1024,
    /** Bytes of a document that are searched in one turn of the event loop: some milliseconds in the worst case. */
    searchBytesPerTurn: 512 * 1024,
    /** Largest archive that is accepted from a vendor, most entries of an archive, and longest text in it. */
    archiveBytes: 4 * 1024 * 1024,
    archiveEntries: 256,
    textBytes: 4 * 1024 * 1024,
    /** Largest answer of a vendor that is no archive; all such answers are small. */
    answerBytes: 256 * 1024,
    /** Unfinished jobs of one agent, and of one account. */
    jobsPerAgent: 8,
    jobsPerAccount: 32,
    /** Longest life of a job. */
    lifeMs: 30 * 60_000,
    /** Time that a claimed job belongs to one process: longer than any step takes. */
    leaseMs: 180_000,
    /** Time for all requests of one step. */
    stepMs: 60_000,
    /**
     * Waits between two requests for the state of a job: the first, and the longest. Each wait is twice the last, since the
     * vendor allows few requests a minute.
     */
    lookMs: { first: 2_000, most: 15_000 },
    /** Time after which a start with a lost answer counts as not received. */
    startUndecidedMs: 120_000,
    /** Time that a result can be read. */
    resultKeptMs: 24 * 3_600_000,
    /** Time that the state of a job can be read. Events that name the job are kept as long. */
    keptMs: 30 * 24 * 3_600_000,
    tickMs: 1_000,
    jobsPerTick: 8,
  },
} as const;
