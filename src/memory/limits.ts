/** Limits of agents' memories (contract B §4.5), and this server's own bounds. */
export const MEMORY_LIMITS = {
  query: {
    bytes: 8 * 1024,
    words: 64,
    /** Terms that one query looks for in metadata fields, over all fields. */
    terms: 128,
    results: { usual: 10, most: 50 },
    /** Chunks that each kind of search returns before the two lists are merged. */
    candidates: 200,
    /** Chunks matching the query's words that are ranked: the newest ones. */
    rankedMatches: 400,
    /** Chunks left by a filter whose vectors are compared: the newest ones. */
    filteredChunks: 10_000,
  },
  item: {
    textBytes: 32 * 1024,
    /** The longest document of knowledge. */
    documentBytes: 128 * 1024,
    perIngest: 100,
    idsPerRequest: 100,
    metadataFields: 32,
    fieldChars: 64,
    metadataValueChars: 1_024,
    /** Different words of an item's metadata that searches find; the rest is not indexed. */
    metadataWords: 128,
    /** The longest title of a document, and the longest id that its caller gives it. */
    titleChars: 512,
    /** The most chunks that one item is cut into. */
    chunks: 256,
    chunkChars: 1_000,
  },
  facts: {
    /** Most facts of one text. Further facts of a chat model are dropped; facts found without a model are joined. */
    perItem: 64,
    /** Tokens of the chat model's answer with the facts, and characters of that answer that are read. */
    maxTokens: 4_096,
    answerChars: 128 * 1024,
  },
  list: {
    page: { usual: 20, most: 100 },
    offset: 100_000,
  },
  body: {
    /** Largest request body: as many texts of full length fit as one request may bring. */
    bytes: 4 * 1024 * 1024,
    json: { depth: 16, values: 20_000, members: 20_000 },
  },
  agent: {
    /** Items of an agent, in all its namespaces together. */
    items: 100_000,
    /** Bytes of the texts, titles and metadata of all items of an agent. */
    bytes: 200 * 1024 * 1024,
    spaces: 10_000,
  },
  queue: {
    /** Bounds of the queue of database reads: searches, and the loading of pieces of spaces. Agents take turns. */
    reads: { atOnce: 4, waiting: 2_048, waitingPerUser: 64 },
    /** Bounds of the queue of writes. Each write locks the store of its agent in a sql transaction. */
    writes: { atOnce: 3, atOncePerUser: 1, waiting: 2_048, waitingPerUser: 64 },
  },
  indexing: {
    /** Namespaces whose items a process indexes at a time: of all agents, and of one agent. */
    spacesAtOnce: 8,
    spacesAtOncePerAgent: 2,
    /** Agents with items to index that one search for work reads, and namespaces of each. */
    agentsPerLook: 32,
    spacesPerLook: 16,
    /** Searches in a row that may find no work before the process waits for the next poll. */
    looks: 8,
    /** Agents for which a process remembers the last namespace that it examined. */
    agentsRemembered: 1_000,
    itemsPerClaim: 8,
    /** Chunks that are embedded and committed together. */
    chunksPerCommit: 64,
    claimMs: 30_000,
    renewMs: 10_000,
    pollMs: 500,
    attempts: 5,
    /** Wait after the first failure of an item. The wait doubles with each failure. */
    retryMs: 2_000,
    /** Wait of an item after the engine was busy. */
    busyMs: 1_000,
    /** The wait after a purchase was refused: it grows with each refusal, and all waits together take about two days. */
    refusedMs: { first: 5_000, most: 3_600_000, times: 60 },
    /** Items that become due again in one step because their agents now have the balance. */
    wokenAtOnce: 500,
    wakeMs: 2_000,
  },
  sweep: {
    /** Rows that are read at a time, and items that are swept at a time. */
    rowsPerRead: 500,
    items: 500,
    /** Time that a request that deletes a tenant sweeps by itself; a worker deletes the rest. */
    ms: 5_000,
    /** Interval at which a process checks its loaded namespaces for deletions by other processes. */
    checkEveryMs: 1_000,
    /** Time after which a namespace that did not fit into the index is loaded again. */
    tooLargeMs: 60_000,
    /** Time that removals are recorded. A process that was away for longer loads a namespace anew. */
    removalsKeptMs: 600_000,
  },
  index: {
    /**
     * Bytes of the vectors that are kept for searches: some 200,000 vectors of 512 numbers. The least recently used namespaces
     * are dropped.
     */
    bytes: 512 * 1024 * 1024,
    /** Namespaces that are kept in the index, including empty namespaces. */
    spaces: 16_384,
    /**
     * Share of `bytes` (50,000 vectors of 512 numbers) and `spaces` that one agent may have before its namespaces are
     * dropped.
     */
    share: 1 / 4,
    /** Most numbers of a vector: four rows of such vectors fill a block. */
    dims: 3_072,
    /** Most results of one search. */
    results: 1_000,
    /** Most rows that one search can be restricted to by their ids. */
    among: 10_000,
    /** Bytes and rows of one message to the index's thread, which stores them in one step. */
    batchBytes: 256 * 1024,
    batchRows: 512,
    /** Calls to the index that are under way or wait: of all spaces, and of one space. */
    waiting: 2_048,
    waitingPerSpace: 64,
    /** Bytes that a search or wipe reads before the next namespace has its turn: about a quarter of a millisecond. */
    stepBytes: 4 * 1024 * 1024,
    /** Size of the young generation of the heap of the index's thread. A search leaves about ten kilobytes of objects. */
    youngHeapMb: 3,
  },
  /** Limits of the index in the database, where it has pgvector. */
  pgvector: {
    /** Rows up to which a namespace gets no graph: each row is then compared with a query. */
    comparedRows: 4_000,
    /** Graphs of all namespaces together. The database examines every graph whenever a row is written. */
    graphs: 64,
    /** Chunks whose vectors are written as text in one turn: about ten milliseconds. */
    rowsPerFill: 100,
    fillsPerTick: 20,
    fillEveryMs: 1_000,
    graphEveryMs: 5_000,
    /** Namespaces that one run examines, and namespaces with pending work that a process remembers. */
    spacesPerLook: 500,
    wanted: 1_000,
  },
} as const;
