/** Of sockets and of what is said on them. */
export const VOICE_LIMITS = {
  // Sockets
  socketMessageBytes: 1024 * 1024,
  socketHardMessageBytes: 16 * 1024 * 1024,
  socketBackpressureBytes: 1024 * 1024,
  socketsPerAgent: 20,
  socketsPerAddress: 2_500,
  socketPingSeconds: 120,
  closeReasonBytes: 123,
  transcriptionIdleSeconds: 60,
  /** In the vendor's protocol: so long without a word, and so long without audio when there are words. */
  listenIdleSeconds: 10,
  listenKeptSeconds: 900,
  /** The silence that ends an utterance there. Below the minimum every breath would cut a sentence in two. */
  listenEndpointingMs: { min: 300, usual: 500, max: 5_000 },
  utteranceEndMs: { min: 1_000, max: 5_000 },
  clientMessageChars: 1_024,
  /** Audio may arrive this far ahead of real time; a client that sends faster is cut off. */
  audioAheadSeconds: 120,
  grammarChars: 16_384,
  /** After the last audio: how long the remaining finals may take. */
  transcriptFinishMs: 10_000,
  /** What may be unsent of generated speech before synthesis waits for the client. */
  speechUnsentBytes: 256 * 1024,
  speechDeltaMs: 200,
  liveSessions: 10_000,

  // Realtime sessions
  /** Longer speech is committed by itself. One turn's reserve covers twice as much. */
  utteranceSeconds: 60,
  /** A commit of less than this holds nothing to transcribe. */
  commitMinMs: 100,
  realtimeItems: 256,
  realtimeItemChars: 16_384,
  realtimeConversationChars: 131_072,
  realtimeInstructionsChars: 16_384,
  realtimeTools: 64,
  realtimeToolsChars: 32_768,
  realtimeInputTokens: 4_096,
  realtimeTurnMs: 120_000,
  /** A decoder goes back to the pool when its session has not spoken for this long. */
  realtimeDecoderIdleMs: 30_000,
  realtimeEventsPerSecond: 200,
  realtimeEventBurst: 2_000,
  realtimeIdleSeconds: 900,

  // Client secrets
  clientSecretSeconds: { min: 10, max: 7_200, usual: 600 },
  /** They travel in a header, and common proxies take lines of 8 KiB. */
  clientSecretChars: 7_168,
  sampleRateHz: { min: 8_000, max: 48_000 },
} as const;
