/** Limits of requests to models, of the catalogue, and of upstreams. */
export const MODEL_LIMITS = {
  idChars: 128,
  /** Fallback models of a request after its first model, and names in its list of providers. */
  routing: { models: 8, providers: 32 },
  byokFeeRaw: 2_000n,
  marginBps: 500,
  chat: {
    /** Bytes of a chat request's body with its images, sound and files. */
    bodyBytes: 10 * 1024 * 1024,
    /** Bounds of a chat request. Its text may be longer than the longest context of any model, in Latin letters. */
    json: { depth: 128, values: 100_000, members: 25_000, textBytes: 4 * 1024 * 1024 },
    messages: 10_000,
    completions: 128,
    stopSequences: 16,
    /** Bounds of the schemas that an upstream enforces strictly. OpenAI takes ten levels of objects and 5,000 properties. */
    strictSchema: { depth: 32, parts: 10_000 },
    toolCalls: 1_024,
    /** Bounds of the parsed arguments of all earlier calls in a chat: `json` counts these arguments as texts alone. */
    callArguments: { values: 200_000, members: 50_000 },
    /**
     * Characters of a tool call's signature that the call's id carries. Gemini's signatures have some thousand characters at
     * most.
     */
    signatureChars: 16 * 1024,
    /** Characters of interleaved tool calls in a stream that are held for a reader that takes one call after another. */
    heldCallChars: 1024 * 1024,
    /** Characters of the `anthropic-beta` header, the list of features that a caller of the Messages dialect requests. */
    betaHeaderChars: 2_048,
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
  },
  tokens: {
    mostOutput: 10_000_000,
    usualOutput: 1_024,
    /** Tokens of the longest answer when the caller and the catalogue set no limit. */
    unknownOutput: 4_096,
    /** Output tokens that the balance must at least pay for. An answer with fewer tokens is not begun. */
    leastOutput: 16,
    /** Percent of a prompt's estimated tokens that are reserved for it in the context window, since tokenizers differ. */
    promptReservePercent: 130,
    charsEach: 4,
    /** Tokens of every message beside its content. */
    perMessage: 8,
    /** Tokens of an image, or of another part that is not text, until the upstream has counted it. */
    perOpaquePart: 1_105,
    /** Most tokens that vendors count for an image, unless its source in the catalogue states more. */
    perImage: 4_096,
    /** Bytes of sound in base64 for each token: no vendor counts more tokens at the smallest rates of MP3. */
    soundBytesEach: 32,
    /** Tokens that vendors write around a list of tools or a schema. */
    ofPreamble: 704,
    /** Percent that a prompt token costs more when an upstream writes it to its cache, for minutes or for an hour. */
    cacheWriteSurcharge: { shortPercent: 25, hourPercent: 100 },
  },
  count: {
    /** Time for an upstream to count a prompt; after it this server counts. */
    waitMs: 5_000,
    /** Tokens of an image, and characters in base64 for each token of a file, in a prompt that this server counts. */
    imageTokens: 1_600,
    fileCharsPerToken: 24,
    /** Tokens of Anthropic's models for a text, in percent of the tokens that this server's encoder counts. */
    claudePercent: 120,
  },
  embedding: {
    bodyBytes: 4 * 1024 * 1024,
    /** Bounds of an embedding request, whose inputs may be lists of tokens: 2,048 lists with some 300,000 tokens in all. */
    json: { depth: 32, values: 400_000, members: 1_000 },
    inputs: 2_048,
    dimensions: 65_536,
    /** Bytes of one answer: the most vectors that a request may name, of 3,072 numbers each, are 33 MB in base64. */
    answerBytes: 40 * 1024 * 1024,
    inFlight: 64,
    /** Bytes of a list of vectors that are read or written in one turn of the event loop. */
    vectorBytesPerTurn: 64 * 1024,
  },
  transcription: {
    /** Bytes of an audio file to be transcribed. The form of its upload may have `HTTP_LIMITS.form.fieldsBytes` more. */
    fileBytes: 25 * 1024 * 1024,
    promptChars: 16_384,
    /** Longest sound of one request to the local transcribers, which work a few times faster than real time. */
    localSeconds: 600,
    /**
     * Tokens for each second of sound and of its transcript, for sources that bill by tokens and have not yet reported their
     * number.
     */
    audioTokensPerSecond: 10,
    transcriptTokensPerSecond: 5,
    /** Upper bound of the transcript tokens for each second: no language is spoken faster. */
    mostTranscriptTokensPerSecond: 16,
  },
  usage: {
    /** Longest duration of a file that is accepted from an upstream's report. */
    audioSeconds: 172_800,
    /** Most tokens of one kind that are accepted from an upstream's report. */
    tokens: 10_000_000,
    /** Tokens that vendors may add around a request's content. A report is cut to the request's upper bound plus this number. */
    unaskedTokens: 2_048,
    /**
     * Bound of a plausible use: `times` the most that the request can have used, plus `units`. A report beyond it is no
     * difference of counting, and its source is not called for a while.
     */
    impossible: { times: 2, units: 64 },
    /** Seconds by which another party's count of a session may exceed the time that passed here. */
    liveRoundingSeconds: 1,
  },
  catalogue: {
    fileBytes: 4 * 1024 * 1024,
    providers: 256,
    models: 10_000,
    sourcesPerModel: 16,
    /** Days before a model's retirement from which a start names the model. No vendor announces a retirement much earlier. */
    retirementNoticeDays: 184,
  },
  upstream: {
    firstByteMs: 60_000,
    /**
     * Time to the first byte of a source that is paid call by call: the vendor may hold its answer back until its payment is
     * settled.
     */
    paidFirstByteMs: 120_000,
    idleMs: 60_000,
    totalMs: 600_000,
    connections: 256,
    inFlight: 1_024,
    answerBytes: 10 * 1024 * 1024,
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
    restMs: { min: 1_000, max: 30_000 },
  },
  link: {
    pingMs: 20_000,
    /** Time for an upstream to answer a close frame. */
    closeMs: 2_000,
    /** Bytes of one frame of an upstream; all frames are read. */
    listenFrameBytes: 256 * 1024,
    /** Time after the upgrade at which an upstream that has not closed counts as ready, if it sends nothing unasked. */
    listenOpeningMs: 50,
    /**
     * Characters of one item. The protocol bounds instructions and tools at 16,384 tokens, which are about this number of Latin
     * letters.
     */
    itemChars: 65_536,
  },
  vendor: {
    /** Largest answer of a vendor, with sound in base64 or hex. */
    answerBytes: 16 * 1024 * 1024,
    /**
     * Bounds of a vendor's answer as JSON. A transcript of `answerBytes` fits: vendors write six members and some hundred bytes
     * for each word and each blank, and an hour of the fastest speech has 18,000 words. The answer is read and written in several
     * turns.
     */
    answerJson: { depth: 64, values: 1_200_000, members: 1_000_000 },
    /** Time for the request that cancels a job at its vendor. */
    abandonMs: 5_000,
    /** Waits between two queries for a transcript that is not done yet: the first, and the longest. */
    pollMs: { first: 250, most: 2_000 },
  },
} as const;
