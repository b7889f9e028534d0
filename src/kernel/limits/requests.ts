/** Limits of requests: their number, their size, and the parts of their answers that are kept. */
export const REQUEST_LIMITS = {
  // Requests a minute

  // Connections

  // Bodies and headers
  /** Bytes that are copied in one turn of the event loop. */
  copyBytesPerTurn: 1024 * 1024,
  forwardedHops: 32,

  // Idempotency

  // Pruning of keys and rate windows
} as const;
