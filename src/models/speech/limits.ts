/** Limits of requests for speech. */
export const SPEECH_LIMITS = {
  /** Code points of one text, as in the API of the vendor whose interface this is. */
  inputChars: 4_096,
  instructionsChars: 16_384,
  voiceChars: 256,
  speed: { min: 0.25, max: 4 },
  /** Bytes of text for each second of speech. A Chinese character has three bytes and lasts as long as three letters. */
  textBytesPerSecond: 15,
  audioTokensPerSecond: 21,
  /** Factor by which speech may last longer than its text suggests. No more is held. */
  holdFactor: 2,
  /** Bytes of one answer: twenty minutes of uncompressed sound. */
  audioBytes: 64 * 1024 * 1024,
  /** Bytes by which a reader may be behind: vendors send a compressed answer faster than networks take it. */
  queueBytes: 16 * 1024 * 1024,
  /** Requests under way at each provider. */
  inFlight: 256,
  /**
   * Speech requests under way at the local engine: fewer than the engine takes at a time, so that speech which has begun is not
   * refused in its middle.
   */
  localInFlight: 32,
  pieceMs: 200,
  /** Largest file that is sent whole, with its length in the head of the file. */
  wholeFileBytes: 2 * 1024 * 1024,
} as const;
