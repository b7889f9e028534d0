/** Bounds of parsed JSON, and of its part in one turn of the event loop. */
export const JSON_LIMITS = {
  /** Bounds of a JSON text that a client sends. */
  request: { depth: 128, values: 100_000, members: 25_000 },
  /** Bounds of an answer of an upstream. The log probabilities of each token make a long one. */
  upstream: { depth: 128, values: 500_000, members: 100_000 },
  /** Bytes of JSON beyond which each step of parsing takes a turn of the event loop of its own. */
  bytesPerTurn: 64 * 1024,
  /** Values and members of one JSON text that are built in one turn of the event loop, in a few milliseconds. */
  partsPerTurn: 10_000,
} as const;
