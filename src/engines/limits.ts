/** Limits of the engines inside this process, each in a worker thread. */
export const ENGINE_LIMITS = {
  worker: {
    /** Time without an answer after which a worker is ended; its calls fail. */
    hungAfterMs: 30_000,
    /** Time that a worker has to exit by itself. */
    endGraceMs: 2_000,
    /** Wait before the restart of a worker that crashed twice in a row, and the longest wait after further crashes. */
    restartFirstMs: 250,
    restartMaxMs: 10_000,
    heapMb: 512,
    /**
     * Niceness of worker threads, below the priority of the media loop. Without effect where the system has no thread priorities.
     */
    niceness: { decoder: 5, other: 2 },
  },
  decoder: {
    /** Decoders for each core that they compute on: the number of utterances that a core decodes in real time. */
    perCore: 4,
    most: 12,
    /** Time that a decoder takes for a second of sound: the first estimate, and the seconds of sound that the mean covers. */
    realTimeFactor: { first: 0.25, overSeconds: 60 },
    /** Share of the decoders' time that listeners may fill, and share of its own time that each listener speaks. */
    placeShare: 0.6,
    placeSpeech: { live: 0.5, file: 1 },
    /** Files of one agent that are transcribed at a time, so that other agents find a free decoder. */
    filesPerAgent: 2,
    /** Undecoded sound of a closed stream above which its decoder is replaced at once instead of finishing. */
    backlogSeconds: 2,
    /** Sound that a stream may be ahead of its decoder before the stream fails. */
    behindSeconds: 120,
    /** Time without sound within an utterance after which a stream gives its decoder back. */
    stallMs: 1_000,
    retrySeconds: 5,
    postMs: 100,
    partialEveryMs: 200,
    /** Sound after which a decoder is replaced between streams, since its heap is of fixed size. */
    lifeSeconds: 600,
  },
  utterance: {
    /** Length after which an utterance is cut at the next quiet moment, and length at which it is cut in any case. */
    softSeconds: 12,
    hardSeconds: 20,
    /** Longest utterance: longer speech is committed automatically. The reserve of one turn covers twice as much. */
    committedSeconds: 60,
  },
  grammar: {
    chars: 16_384,
    /** Words of a grammar after its rules are expanded. */
    words: 4_096,
    /**
     * Optional or repeated parts of a grammar after its rules are expanded. A hundred in a row take 0.7 s to join, three hundred
     * 20 s.
     */
    optionals: 128,
    /** Nested brackets and rules of a grammar. Sixteen nested repetitions end in a trap. */
    depth: 24,
  },
  speech: {
    /** Rate of sound that this server makes: the rate of `pcm` with every vendor of this dialect. */
    sampleRateHz: 24_000,
    textChars: 10_000,
    chunkChars: 200,
    /** Characters of a text's first chunk: fewer than `chunkChars`, so that the first sound comes soon. */
    firstChunkChars: 100,
    speed: { min: 0.25, max: 4 },
    /** Characters of one chunk as it is spoken, where a digit counts as six. */
    chunkSpokenChars: 400,
    callsInFlight: 64,
    /** Speech requests of one agent under way at a time, so that other agents are served too. */
    perAgent: 16,
    /** Bounds of the queue before the TTS. Each call of an agent has one piece in the queue, and no call may be mute. */
    queue: { atOnce: 2, waiting: 2_048, waitingPerUser: 512 },
  },
  encoding: {
    /** Bit rates at which speech at 24 kHz is clear. FLAC has no fixed rate. */
    bitsPerSecond: { mp3: 64_000, aac: 64_000, opus: 32_000 },
    /** Complexity of the Opus encoder, 0 to 10. It takes half the work of the default, without an audible difference. */
    opusComplexity: 5,
    /** Files after which the FLAC encoder's program is started anew, since it frees no memory. */
    flacFilesAProgram: 32,
    /** Files under way, including abandoned files that are not closed yet. */
    streams: 64,
    /** Calls under way: one for each stream, and the end of each stream. */
    callsInFlight: 128,
  },
  decoding: {
    /** Files that are decoded at a time: as many as there may be recognisers of both kinds. */
    files: 8,
    /** Calls under way: one for each file, and the end of each file. */
    callsInFlight: 16,
    /** Samples (5 s of sound), and blocks without sound, after which one call ends. */
    batchSamples: 80_000,
    batchBlocks: 64,
    /** Time by which a file's sound may be longer than the file states, since encoders add silence at both ends. */
    slackMs: 1_000,
    /** Damaged packets that a decoder may report in one call. */
    complaints: 20_000,
  },
  /**
   * Bounds of the queue before each engine, where agents take turns. Of the two pieces at the engine, one runs while the other
   * waits.
   */
  queue: { atOnce: 2, waiting: 2_048, waitingPerUser: 64 },
  textCallsInFlight: 64,
  embedding: {
    texts: 2_048,
    textChars: 8_192,
    batch: 16,
    /** Characters of all texts in a batch. One text alone may be longer. */
    batchChars: 4_096,
  },
  count: {
    /** Characters of a text whose tokens are counted; the rest counts in proportion. One batch takes some 10 ms. */
    chars: 262_144,
    batchChars: 16_384,
  },
  guide: {
    questionChars: 1_000,
    resultChars: 16_384,
    /** Characters of all tool schemas and of the answer schema of one request, as written. */
    schemaChars: 262_144,
    /** Time to fill one schema and check the value, and most values and references of a schema. */
    schemaMs: 1_000,
    schemaNodes: 1_000,
    schemaDepth: 32,
    schemaTextChars: 16_384,
    arithmeticChars: 200,
  },
  vad: {
    streams: 1_024,
    /** Time after which an answer of the voice-activity model is ignored. The gate decides in its place. */
    lateMs: 100,
    batchFrames: 64,
  },
} as const;
