/** Limits of requests: their number, their size, and the parts of their answers that are kept. */
export const REQUEST_LIMITS = {
  // Requests a minute

  // Connections

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
  forwardedHops: 32,

  // Idempotency

  // Pruning of keys and rate windows
} as const;
