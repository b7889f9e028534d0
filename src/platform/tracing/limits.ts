/** Limits of trace contexts that come in, of spans, and of their export. */
export const TRACING_LIMITS = {
  context: {
    /** The longest `traceparent`. Version 00 has 55 characters. */
    parentChars: 128,
    /** Longest `tracestate`: the length that the standard asks to keep. */
    stateChars: 512,
    stateMembers: 32,
  },
  export: {
    /** Ended spans that wait for the exporter. One more is dropped. */
    waitingSpans: 2_048,
    /** Spans of one export: they are encoded in one turn of the event loop. */
    spansPerExport: 128,
    delayMs: 2_000,
    /** Time for one export with its retries. */
    timeoutMs: 10_000,
    /** Exports at a time. A running server makes one; a stopping server exports the whole queue at once. */
    atOnce: 17,
    /** Time that a stopping server waits for its last exports. */
    flushMs: 3_000,
  },
  span: {
    attributes: 64,
    attributeChars: 1_024,
    events: 64,
  },
} as const;
