/** Limits of requests: their number, their size, and the parts of their answers that are kept. */
export const REQUEST_LIMITS = {
  // Requests a minute
  /**
   * Requests that are answered in the turn of the event loop that brought them. Further ones wait for the next turn, in
   * which a client that has written thousands of requests into one packet is cut off.
   */
  requestsPerTurn: 32,

  // Connections
  connections: 20_000,
  /**
   * Connections of one client network: more than `socketsPerAddress`, since a carrier's calls and requests come from the same
   * few machines.
   */
  connectionsPerNetwork: 3_000,
  /** Part of the process's file descriptors that connections may take; files, the database and upstreams use the other part. */
  connectionDescriptors: 0.75,
  /** Shortest time between two readings of the kernel's connection tables. */
  censusEveryMs: 50,
  /** Wait for each line of the last table: a line takes some microseconds, and 100,000 connections may have ended. */
  censusRestMsPerLine: 0.01,

  // Bodies and headers
  /** Bounds of a JSON text that a client sends. */
  requestJson: { depth: 128, values: 100_000, members: 25_000 },
  /** Bytes of JSON beyond which each step of parsing takes a turn of the event loop of its own. */
  jsonBytesPerTurn: 64 * 1024,
  /** Values and members of one JSON text that are built in one turn of the event loop, in a few milliseconds. */
  jsonPartsPerTurn: 10_000,
  /** Bytes that are copied in one turn of the event loop. */
  copyBytesPerTurn: 1024 * 1024,
  /** Bounds of an answer of an upstream. The log probabilities of each token make a long one. */
  upstreamJson: { depth: 128, values: 500_000, members: 100_000 },
  jsonBodyBytes: 1024 * 1024,
  formFieldsBytes: 128 * 1024,
  formParts: 64,
  formPartHeadBytes: 4 * 1024,
  /** Bytes of request bodies in memory, of all requests together, while the bodies arrive or are handled. */
  bodyBytesInFlight: 256 * 1024 * 1024,
  /**
   * Bytes of request bodies in memory of one agent, one developer, or one network without a credential: two files of the
   * largest size.
   */
  bodyBytesPerCaller: 64 * 1024 * 1024,
  /** Bytes of a body beyond its limit that are still read and dropped, so that the client can read the refusal. */
  bodyDiscardBytes: 16 * 1024 * 1024,
  /** Unread bytes of a streamed body beyond which its connection is paused. */
  bodyStreamAheadBytes: 64 * 1024,
  requestIdChars: 128,
  /** Characters of an unknown path that its refusal quotes. A longer path is not compared with routes. */
  badPathChars: 128,
  forwardedHops: 32,
  /** Size of the pieces of a connection's last answer, so that the library buffers no more than one for a slow reader. */
  lastAnswerPieceBytes: 64 * 1024,
  /** Time in which the reader of a streamed answer takes nothing, after which its connection is cut. */
  streamStallMs: 30_000,

  // Idempotency

  // Pruning of keys and rate windows
} as const;
