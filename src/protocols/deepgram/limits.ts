/** Limits of the routes and sockets of Deepgram's protocol. */
export const DEEPGRAM_LIMITS = {
  /** Life of a temporary token: bounds and default as in https://developers.deepgram.com/reference/auth/tokens/grant. */
  grantSeconds: { min: 1, max: 3_600, usual: 30 },
  /** Longest request body that names a file by its URL, and longest URL. */
  addressBodyBytes: 16 * 1024,
  urlChars: 4_096,
  /** Bytes of an upstream's refusal that are read for its message. */
  refusalBytes: 16 * 1024,
  /**
   * Files at URLs that are handled at a time, each from its first byte to its transcript, and bytes of these files in memory.
   */
  files: { inAll: 8, perAccount: 4, perAgent: 2 },
  bytesInFlight: { inAll: 192 * 1024 * 1024, perAccount: 96 * 1024 * 1024 },
  /** Longest message without audio: a text, or a list of key terms. */
  messageChars: 16_384,
  keyterms: 100,
  speak: {
    /** Longest text of one message, and of all texts that wait on one socket. */
    chars: 2_000,
    waitingChars: 8_000,
    /** Characters of the longest turn, and of all turns that were sent and may still be played. */
    turnChars: 40_000,
    /** Characters of a sentence (the first, and each later sentence) beyond which it is cut before its end has arrived. */
    sentence: { firstChars: 600, chars: 600 },
    /** Ranges of speed and expressivity, as with Deepgram: https://developers.deepgram.com/docs/flux-tts/client-messages. */
    speed: { min: 0.5, max: 1.5, step: 0.05 },
    expressivity: { min: -2, max: 2 },
    /** Most flushes within `windowMs`, as with Deepgram: https://developers.deepgram.com/docs/tts-ws-flush. */
    flushes: { most: 20, windowMs: 60_000 },
    /** Bytes of sound that may be unsent before the next piece is read. */
    unsentBytes: 128 * 1024,
    /** Time in which a client reads none of the unsent sound, after which its socket closes. */
    stallMs: 30_000,
    /** Time that a sentence waits for a rate-limit token of its agent, and the interval of its attempts. */
    admitMs: 10_000,
    admitEveryMs: 500,
    /** Time without a message and without speech after which a socket closes. */
    idleMs: 900_000,
  },
  turn: {
    /**
     * Thresholds and timeout for the end of a turn: ranges and defaults of
     * https://developers.deepgram.com/docs/flux/configuration.
     */
    eot: { min: 0.5, max: 1, usual: 0.7 },
    eagerEot: { min: 0.3, max: 0.9 },
    timeoutMs: { min: 500, max: 60_000, usual: 5_000 },
    /** Time constant by which the confidence in the end of a turn grows with silence: the confidence is 0.7 after 722 ms. */
    silenceMs: 600,
    /** Silence after which the words of a turn are checked for the end of the turn. */
    pauseMs: 300,
    updateMs: 250,
    /** Words after which a turn is ended, because the client gets all words of the turn four times a second. */
    words: 500,
  },
  listen: {
    /**
     * Seconds after which a Deepgram socket closes: `idleSeconds` without any message, `keptSeconds` without audio
     * while `KeepAlive` messages come.
     */
    idleSeconds: 10,
    keptSeconds: 900,
    /** Silence that ends an utterance on a Deepgram socket. Below the minimum every breath would cut a sentence in two. */
    endpointingMs: { min: 300, usual: 500, max: 5_000 },
    utteranceEndMs: { min: 1_000, max: 5_000 },
  },
} as const;
