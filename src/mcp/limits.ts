/** Limits of tool calls by the Model Context Protocol. */
export const MCP_LIMITS = {
  /** Messages in one batch, which protocol versions before 2025-06-18 have. */
  batch: 16,
  callsPerAgent: 32,
  /** Time for one call. A payment under way by then is awaited. */
  callMs: 120_000,
  /** The longest id of a message, which names its work under an `Idempotency-Key`. */
  idChars: 256,
  /** Largest file to be transcribed, after base64 is decoded. */
  audioBytes: 7 * 1024 * 1024,
  /** Bytes of sound in one result; longer sound is cut at this length and marked. */
  speechBytes: 3 * 1024 * 1024,
  /** The longest text that is spoken without compression, so that the sound stays within `speechBytes`. */
  plainSpeechChars: 600,
  /** Bytes of one answer of a vendor or a model; a longer answer is cut at this length and marked. */
  answerBytes: 1024 * 1024,
  /** Bytes of all results of one request as JSON, escapes included. The longest sound of `speechBytes` fits, in base64. */
  resultBytes: 4.5 * 1024 * 1024,
  /** Largest result that is never left out, even beyond `resultBytes`. */
  smallResultBytes: 16 * 1024,
  promptChars: 100_000,
  fileNameChars: 128,
  memory: {
    textChars: 32 * 1024,
    queryChars: 8 * 1024,
    perCall: 100,
    recalled: { most: 50, usual: 10 },
  },
} as const;
