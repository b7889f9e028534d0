/** Limits of outgoing requests and of the purchases made with them. */
export const OUTBOUND_LIMITS = {
  // Gateway
  modelIdChars: 128,
  /** Fallback models of a request after its first model, and names in its list of providers. */
  routing: { models: 8, providers: 32 },
  chatMessages: 10_000,
  maxOutputTokens: 10_000_000,
  completionsPerRequest: 128,
  stopSequences: 16,
  /** Bounds of the schemas that an upstream enforces strictly. OpenAI takes ten levels of objects and 5,000 properties. */
  strictSchema: { depth: 32, parts: 10_000 },
  toolCallsPerAnswer: 1_024,
  /**
   * Characters of a tool call's signature that the call's id carries. Gemini's signatures have some thousand characters at
   * most.
   */
  signatureChars: 16 * 1024,
  /** Characters of interleaved tool calls in a stream that are held for a reader that takes one call after another. */
  heldCallChars: 1024 * 1024,
  charsPerToken: 4,
  /** Tokens of the longest answer when the caller and the catalogue set no limit. */
  unknownOutputTokens: 4_096,
  /** Percent of a prompt's estimated tokens that are reserved for it in the context window, since tokenizers differ. */
  promptReservePercent: 130,
  /** Output tokens that the balance must at least pay for. An answer with fewer tokens is not begun. */
  leastOutputTokens: 16,
  /** Attempts to hold a smaller amount: for the balance, a cap of the agent, a cap of its team, and one race. */
  holdTries: 5,
  /** Tokens of every message beside its content. */
  tokensPerMessage: 8,
  /** Tokens of an image, or of another part that is not text, until the upstream has counted it. */
  tokensPerOpaquePart: 1_105,
  /** Most tokens that vendors count for an image, unless its source in the catalogue states more. */
  mostTokensPerImage: 4_096,
  /** Bytes of sound in base64 for each token: no vendor counts more tokens at the smallest rates of MP3. */
  soundBytesPerToken: 32,
  /** Tokens that vendors write around a list of tools or a schema. */
  tokensOfPreamble: 704,
  /** Percent that a prompt token costs more when an upstream writes it to its cache, for minutes or for an hour. */
  cacheWriteSurcharge: { shortPercent: 25, hourPercent: 100 },
  /**
   * Prompt caches of upstreams: `leastTokens` is the shortest prompt that most of them cache, `heldMs` the life of an entry.
   * This server remembers the sources of `holders` prompts, by the first `readChars` characters of each; a value counts as
   * `valueChars` at least.
   */
  promptCache: {
    leastTokens: 1_024,
    heldMs: 5 * 60_000,
    holders: 10_000,
    readChars: 64 * 1024,
    valueChars: 8,
  },
  /** Characters of the `anthropic-beta` header, the list of features that a caller of the Messages dialect requests. */
  betaHeaderChars: 2_048,
  /** Time for an upstream to count a prompt; after it this server counts. */
  countWaitMs: 5_000,
  /** Tokens of an image, and characters in base64 for each token of a file, in a prompt that this server counts. */
  countedImageTokens: 1_600,
  countedFileCharsPerToken: 24,
  /** Tokens of Anthropic's models for a text, in percent of the tokens that this server's encoder counts. */
  claudeTokensPercent: 120,
  embeddingInputs: 2_048,
  embeddingDimensions: 65_536,
  transcriptionPromptChars: 16_384,
  /** Longest sound of one request to the local transcribers, which work a few times faster than real time. */
  localTranscriptionSeconds: 600,
  /**
   * Tokens for each second of sound and of its transcript, for sources that bill by tokens and have not yet reported their
   * number.
   */
  audioTokensPerSecond: 10,
  transcriptTokensPerSecond: 5,
  /** Upper bound of the transcript tokens for each second: no language is spoken faster. */
  mostTranscriptTokensPerSecond: 16,
  /** Longest duration of a file that is accepted from an upstream's report. */
  upstreamAudioSeconds: 172_800,
  /** Most tokens of one kind that are accepted from an upstream's report. */
  upstreamTokens: 10_000_000,
  byokFeeRaw: 2_000n,
  catalogFileBytes: 4 * 1024 * 1024,
  rateCardFileBytes: 64 * 1024,
  catalogProviders: 256,
  catalogModels: 10_000,
  sourcesPerModel: 16,
  /** Days before a model's retirement from which a start names the model. No vendor announces a retirement much earlier. */
  retirementNoticeDays: 184,

  // Upstreams
  upstreamFirstByteMs: 60_000,
  /**
   * Time to the first byte of a source that is paid call by call: the vendor may hold its answer back until its payment is
   * settled.
   */
  paidFirstByteMs: 120_000,
  upstreamIdleMs: 60_000,
  upstreamTotalMs: 600_000,
  upstreamConnections: 256,
  upstreamInFlight: 1_024,
  /** Bytes of one answer: the most vectors that a request may name, of 3,072 numbers each, are 33 MB in base64. */
  embeddingAnswerBytes: 40 * 1024 * 1024,
  embeddingsInFlight: 64,
  /** Bytes of a list of vectors that are read or written in one turn of the event loop. */
  vectorBytesPerTurn: 64 * 1024,
  /** Bytes of one server-sent event of an upstream. */
  sseEventBytes: 2 * 1024 * 1024,
  /** Events of a streamed answer that are read in one turn of the event loop: 64 KiB may hold thousands. */
  sseEventsPerTurn: 512,
  /** Bytes that the reader of a streamed answer may be behind its upstream. */
  streamQueueBytes: 4 * 1024 * 1024,
  /** Characters of a header in which an upstream reports its limits. */
  rateLimitHeaderChars: 64,
  /** Longest distance between now and a reported reset time, in either direction. A time farther away is ignored. */
  rateLimitResetMs: 31 * 24 * 60 * 60 * 1_000,
  retryAfterSeconds: 24 * 60 * 60,
  /** Retry time of this server's refusal when an upstream refuses for its rate and names no time. */
  usualRetryAfter: { seconds: 1, ms: 500 },
  restAfterFailures: 3,
  sourceRestMs: { min: 1_000, max: 30_000 },
  /** Tokens that vendors may add around a request's content. A report is cut to the request's upper bound plus this number. */
  unaskedTokens: 2_048,
  /**
   * Bound of a plausible use: `times` the most that the request can have used, plus `units`. A report beyond it is no
   * difference of counting, and its source is not called for a while.
   */
  impossibleUse: { times: 2, units: 64 },

  // Addresses that callers choose

  // Wallets

  // Payments
} as const;
