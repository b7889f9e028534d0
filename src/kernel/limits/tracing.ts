/** Of spans, and of the headers that continue a trace. */
export const TRACING_LIMITS = {
  /** Of `traceparent`. Version 00 has 55. */
  parentChars: 128,
  /** Of `tracestate`, the most that the standard asks to keep. */
  stateChars: 512,
  stateMembers: 32,
  /** Ended spans that wait for the exporter. One more is dropped. */
  waitingSpans: 2_048,
  /** Spans of one export: they are encoded in one turn of the event loop. */
  spansPerExport: 128,
  exportDelayMs: 2_000,
  /** Of one export with its retries. */
  exportMs: 10_000,
  /** Exports at a time. One, but for the last ones, which empty the queue at once. */
  exports: 17,
  /** Of the last export, when the server stops. */
  flushMs: 3_000,
  attributesPerSpan: 64,
  attributeChars: 1_024,
  eventsPerSpan: 64,
} as const;
