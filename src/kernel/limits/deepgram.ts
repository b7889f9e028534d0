/** Of the routes and sockets of Deepgram's protocol. */
export const DEEPGRAM_LIMITS = {
  /** Of a token that stands for a key, as with the vendor: https://developers.deepgram.com/reference/auth/tokens/grant. */
  grantSeconds: { min: 1, max: 3_600, usual: 30 },
  /** Of a body that names a file by its address, and of that. */
  addressBodyBytes: 16 * 1024,
  urlChars: 4_096,
  /** How much of an upstream's refusal is read for what it says. */
  refusalBytes: 16 * 1024,
  /** Files that were named by their address, from their first byte to their transcript. */
  files: { inAll: 8, perAccount: 4, perAgent: 2 },
  bytesInFlight: { inAll: 192 * 1024 * 1024, perAccount: 96 * 1024 * 1024 },

  /** Of one message to be spoken, and of all the text that a socket may have waiting. */
  speakChars: 2_000,
  speakWaitingChars: 8_000,
  /** A sentence of a text that is still being written is cut where it is longer. */
  speakSentence: { firstChars: 600, chars: 600 },
  /** As with the vendor: https://developers.deepgram.com/docs/tts-ws-flush. */
  flushes: { most: 20, windowMs: 60_000 },
  /** What of the sound may be unsent before the next piece is asked for. */
  speakUnsentBytes: 128 * 1024,
  /** How long a client may take nothing of what is spoken. */
  speakStallMs: 30_000,
  /** How long a sentence waits for its token where the agent is over its rate limit, and how often it asks. */
  speakAdmitMs: 10_000,
  speakAdmitEveryMs: 500,
  /** A socket that is asked for nothing and speaks nothing is closed after so long. */
  speakIdleMs: 900_000,
  /** Of a message of the sockets that is no audio: the longest text, and a list of key terms. */
  messageChars: 16_384,

  /** Of the end of a turn: the ranges and defaults of https://developers.deepgram.com/docs/flux/configuration. */
  eot: { min: 0.5, max: 1, usual: 0.7 },
  eagerEot: { min: 0.3, max: 0.9 },
  eotTimeoutMs: { min: 500, max: 60_000, usual: 5_000 },
  /** How fast the belief in the end of a turn grows with silence: 0.7 after 722 ms. */
  eotSilenceMs: 600,
  /** The silence after which words are looked at for the end of a turn. */
  turnPauseMs: 300,
  turnUpdateMs: 250,
  /** Of one turn, all of whose words are told four times a second: a longer one ends. */
  turnWords: 500,
  keyterms: 100,
} as const;
