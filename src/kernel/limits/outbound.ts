/** Of everything that is bought or asked elsewhere. */
export const OUTBOUND_LIMITS = {
  // Gateway
  modelIdChars: 128,
  /** Models behind the first, and names in a list of providers, that a request may wish. */
  routing: { models: 8, providers: 32 },
  chatMessages: 10_000,
  maxOutputTokens: 10_000_000,
  completionsPerRequest: 128,
  stopSequences: 16,
  /** Of the schemas of a request that an upstream is asked to keep to strictly. OpenAI takes ten levels of objects and 5,000 properties. */
  strictSchema: { depth: 32, parts: 10_000 },
  toolCallsPerAnswer: 1_024,
  /** Of what signs a call, where the call's id carries it. Those of Gemini have some thousand characters at most. */
  signatureChars: 16 * 1024,
  /** Of a streamed answer's calls that come side by side, where its reader takes one behind the other. */
  heldCallChars: 1024 * 1024,
  charsPerToken: 4,
  /** What one answer may have where neither its caller nor the catalogue says. */
  unknownOutputTokens: 4_096,
  /** Of what a prompt is taken for, how much of the window is left to it, since tokenizers differ. */
  promptReservePercent: 130,
  /** An answer that the balance leaves less for is not begun. */
  leastOutputTokens: 16,
  /** How often a hold is made smaller: for the balance, a cap of the agent and one of its team, and once for a race. */
  holdTries: 5,
  /** Of every message, beside what it says. */
  tokensPerMessage: 8,
  /** What an image or another part that is not text is taken for until the upstream has counted it. */
  tokensPerOpaquePart: 1_105,
  /** The most that vendors count for an image, but for those whose sources in the catalogue say more. */
  mostTokensPerImage: 4_096,
  /** Of sound in base64: no vendor counts more tokens for the smallest rates of MP3. */
  soundBytesPerToken: 32,
  /** What vendors write around a list of tools or a schema. */
  tokensOfPreamble: 704,
  /** What a prompt token that an upstream writes to its cache costs beyond any other, kept for minutes or an hour. */
  cacheWriteSurcharge: { shortPercent: 25, hourPercent: 100 },
  /**
   * Of prompts that upstreams cache: the shortest that most of them take, how long they keep one, and of how many prompts this
   * server remembers where they went, by so many characters of each. A value counts as
   * `valueChars` at least.
   */
  promptCache: {
    leastTokens: 1_024,
    heldMs: 5 * 60_000,
    holders: 10_000,
    readChars: 64 * 1024,
    valueChars: 8,
  },
  /** Of the list of features that a caller of the Messages dialect asks an upstream for. */
  betaHeaderChars: 2_048,
  /** How long an upstream may take to count a prompt before it is counted here. */
  countWaitMs: 5_000,
  /** Of a prompt that is counted here: what an image is taken for, and so many characters of a file in base64 for a token. */
  countedImageTokens: 1_600,
  countedFileCharsPerToken: 24,
  /** Anthropic's models make more tokens of a text than the encoder that is counted with here. */
  claudeTokensPercent: 120,
  embeddingInputs: 2_048,
  embeddingDimensions: 65_536,
  transcriptionPromptChars: 16_384,
  /** What the local recognisers take at a time: they hear a few times faster than one speaks. */
  localTranscriptionSeconds: 600,
  /** For sources that bill sound by tokens, until they have reported how many. */
  audioTokensPerSecond: 10,
  transcriptTokensPerSecond: 5,
  /** No language is spoken so fast that a second of it is more. */
  mostTranscriptTokensPerSecond: 16,
  /** No more is believed of an upstream's word on how long a file was. */
  upstreamAudioSeconds: 172_800,
  /** Nor of its word on how many tokens of a kind there were. */
  upstreamTokens: 10_000_000,
  byokFeeRaw: 2_000n,
  catalogFileBytes: 4 * 1024 * 1024,
  rateCardFileBytes: 64 * 1024,
  catalogProviders: 256,
  catalogModels: 10_000,
  sourcesPerModel: 16,
  /** A start names the models that go within these days: no vendor gives notice of a day much earlier. */
  retirementNoticeDays: 184,

  // Upstreams
  upstreamConnectMs: 10_000,
  upstreamFirstByteMs: 60_000,
  /** One that is paid call by call may hold its answer back until its payment is settled. */
  paidFirstByteMs: 120_000,
  upstreamIdleMs: 60_000,
  upstreamTotalMs: 600_000,
  upstreamConnections: 256,
  upstreamInFlight: 1_024,
  /** As many vectors of 3,072 numbers as may be asked for come to 33 MB in base64. */
  embeddingAnswerBytes: 40 * 1024 * 1024,
  embeddingsInFlight: 64,
  /** How much of a list of vectors is read or written before others have their turn. */
  vectorBytesPerTurn: 64 * 1024,
  /** One server-sent event of an upstream. */
  sseEventBytes: 2 * 1024 * 1024,
  /** Of a streamed answer so many are read in one turn of the event loop: 64 KiB may hold thousands. */
  sseEventsPerTurn: 512,
  /** By how much the reader of a streamed answer may be behind its upstream. */
  streamQueueBytes: 4 * 1024 * 1024,
  /** Of a header in which an upstream reports its limits. */
  rateLimitHeaderChars: 64,
  /** No limit is believed to be whole again later, nor to have been longer ago. */
  rateLimitResetMs: 31 * 24 * 60 * 60 * 1_000,
  retryAfterSeconds: 24 * 60 * 60,
  /** The retry time in the answer where an upstream sends callers away and does not say for how long. */
  usualRetryAfter: { seconds: 1, ms: 500 },
  restAfterFailures: 3,
  sourceRestMs: { min: 1_000, max: 30_000 },
  /** Tokens that vendors may put around what was sent, beyond all that is held for it: never more is taken than that. */
  unaskedTokens: 2_048,
  /**
   * A use of more than so many times the most that its request can have had, and so many units, is no matter of how one
   * counts: its source is not asked for a while.
   */
  impossibleUse: { times: 2, units: 64 },

  // Addresses that callers choose
  outboundUrlChars: 8_192,
  outboundHostChars: 253,
  outboundLabelChars: 63,
  /** What one name may resolve to; all of them are checked. */
  outboundAddresses: 64,
  outboundConnectAttempts: 4,
  dnsQueryMs: 1_500,
  dnsTries: 2,
  dnsTotalMs: 5_000,
  dnsUnderWay: 1_024,
  outboundConnections: 2_048,
  outboundConnectionsPerOrigin: 1_536,
  outboundIdleConnections: 512,
  /** Below the five seconds after which common servers close without having said so. */
  outboundKeepAliveMs: 4_000,
  outboundKeepAliveMaxMs: 60_000,
  outboundRequestHeaders: 256,
  outboundRequestHeaderBytes: 64 * 1024,
  outboundAnswerHeaderBytes: 64 * 1024,
  /** Answers such as 103 before the one that counts. */
  outboundInterimAnswers: 16,
  /** What an answer may hold in memory while its reader is slow. */
  outboundBodyQueueBytes: 128 * 1024,

  // Wallets
  walletsKept: 10_000,
  walletProviderTimeoutMs: 8_000,
  walletProviderAnswerBytes: 256 * 1024,
  walletProviderReasonChars: 200,
  walletRequestsUnderWay: 64,

  // Payments
  /** Of a challenge, a payment or a settlement, in base64. */
  paymentHeaderChars: 32 * 1024,
  /** Of a challenge that comes as a body. */
  challengeBodyBytes: 64 * 1024,
  paymentJsonDepth: 64,
  /** How many entries of a challenge are looked at. */
  challengeOffers: 64,
  /** How much of a vendor's own words is kept. */
  vendorReasonChars: 200,
} as const;
