/** Memories of agents (contract B §4.5), and what this server adds. */
export const MEMORY_LIMITS = {
  queryBytes: 8 * 1024,
  textBytes: 32 * 1024,
  /** Of one document of knowledge. */
  documentBytes: 128 * 1024,
  itemsPerIngest: 100,
  idsPerRequest: 100,
  results: { usual: 10, most: 50 },
  listPage: { usual: 20, most: 100 },
  listOffset: 100_000,
  /** Of a request: as many texts of full length as one may bring. */
  bodyBytes: 4 * 1024 * 1024,
  bodyJson: { depth: 16, values: 20_000, members: 20_000 },
  /** Of an agent, its namespaces together. */
  itemsPerAgent: 100_000,
  /** Of their texts, titles and metadata. */
  bytesPerAgent: 200 * 1024 * 1024,
  spacesPerAgent: 10_000,
  metadataFields: 32,
  fieldChars: 64,
  metadataValueChars: 1_024,
  /** Of a document's title and of its own id. */
  titleChars: 512,
  /** Of what one item is cut into. */
  chunksPerItem: 256,
  chunkChars: 1_000,
  /** Facts that are drawn out of one text; more are joined. */
  factsPerItem: 64,
  /** Of what a chat model may answer with them, and what is read of it. */
  inferMaxTokens: 4_096,
  inferAnswerChars: 128 * 1024,

  /** What each way of searching finds before the two are joined. */
  candidates: 200,
  /** Of what matches words: so many, the newest, are ranked. */
  rankedMatches: 400,
  /** Of what a filter leaves for the vectors: so many, the newest, are compared. */
  filteredChunks: 10_000,
  queryWords: 64,
  /** Words of a query in fields of metadata, the fields together. */
  queryTerms: 128,
  /** Of the metadata of one item: so many different words are found. */
  metadataWords: 128,
  /** Before the database, where agents have turns one after the other: one search, or one piece of what is loaded. */
  line: { atOnce: 4, waiting: 2_048, waitingPerUser: 64 },
  /** The same for what writes: an agent's store is locked by each sql transaction that does. */
  writes: { atOnce: 3, atOncePerUser: 1, waiting: 2_048, waitingPerUser: 64 },

  indexing: {
    /** Namespaces whose items a process indexes side by side. */
    spacesAtOnce: 8,
    spacesAtOncePerAgent: 2,
    /** What one look for work reads: agents with items to index, and namespaces of each. */
    agentsPerLook: 32,
    spacesPerLook: 16,
    /** Looks without work after which the next poll goes on. */
    looks: 8,
    /** Agents of which a process remembers how far it has looked. */
    agentsRemembered: 1_000,
    itemsPerClaim: 8,
    /** What is embedded and committed together. */
    chunksPerCommit: 64,
    claimMs: 30_000,
    renewMs: 10_000,
    pollMs: 500,
    attempts: 5,
    /** After a failure; longer by itself with each one. */
    retryMs: 2_000,
    /** Where the engine has no room. */
    busyMs: 1_000,
    /** Where a purchase was refused: longer with each refusal up to the most; some two days in all. */
    refusedMs: { first: 5_000, most: 3_600_000, times: 60 },
    /** Items that are taken up again at a time because their agents have the balance now. */
    wokenAtOnce: 500,
    wakeMs: 2_000,
  },
  /** Rows that are read or swept at a time. */
  rowsPerRead: 500,
  itemsPerSweep: 500,
  /** How long a request that deletes a tenant sweeps itself; a worker does the rest. */
  sweepMs: 5_000,
  /** How often a process looks whether what it has loaded was deleted elsewhere. */
  checkEveryMs: 1_000,
  /** A namespace that did not fit into the index is tried again after so long. */
  tooLargeMs: 60_000,
  /** How long it is remembered what was removed: a process that was away for longer loads a namespace anew. */
  removalsKeptMs: 600_000,

  // The index of vectors, in each process
  /** Of vectors that are kept for searches; the spaces that were used last stay. Some 200,000 vectors of 512 numbers. */
  indexBytes: 512 * 1024 * 1024,
  /** That are kept, also empty ones. */
  indexSpaces: 16_384,
  /** Of both, what one agent may have: beyond it its own spaces go first. Some 50,000 vectors of 512 numbers. */
  indexShare: 1 / 4,
  /** Four rows of them fill a block. */
  indexDims: 3_072,
  /** Results of one search. */
  indexResults: 1_000,
  /** Rows that one search can be confined to by their ids. */
  indexAmong: 10_000,
  /** Of rows that travel to the index in one message, and are stored in one step. */
  indexBatchBytes: 256 * 1024,
  indexBatchRows: 512,
  /** Calls that are under way or wait, of all spaces and of one. */
  indexWaiting: 2_048,
  indexWaitingPerSpace: 64,
  /** Of one step of a search or of wiping, after which another space has its turn: a quarter of a millisecond or so. */
  indexStepBytes: 4 * 1024 * 1024,
  /** Of the thread: a search leaves some ten kilobytes of objects behind. */
  indexYoungHeapMb: 3,

  /** Where the database has pgvector. */
  pgvector: {
    /** Rows of a namespace up to which each is compared with a query; a larger one gets a graph. */
    comparedRows: 4_000,
    /** Of all namespaces: the database looks at each of them with every row that is written. */
    graphs: 64,
    /** Chunks whose vectors are written in one turn, as text: some ten milliseconds. */
    rowsPerFill: 100,
    fillsPerTick: 20,
    fillEveryMs: 1_000,
    graphEveryMs: 5_000,
    /** Namespaces that are looked at in one run, and that a process remembers to have work to do. */
    spacesPerLook: 500,
    wanted: 1_000,
  },
} as const;
