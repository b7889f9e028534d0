/** Limits of the engines inside this process, each in a worker thread. */
export const ENGINE_LIMITS = {
  /** Time without an answer after which a worker is ended; its calls fail. */
  hungAfterMs: 30_000,
  /** Time that a worker has to exit by itself. */
  endGraceMs: 2_000,
  /** Wait before the restart of a worker that crashed twice in a row, and the longest wait after further crashes. */
  restartFirstMs: 250,
  restartMaxMs: 10_000,
  workerHeapMb: 512,
  /**
   * Niceness of worker threads, below the priority of the media loop. Without effect where the system has no thread priorities.
   */
  niceness: { decoder: 5, other: 2 },

  /** Decoders for each core that they compute on: the number of utterances that a core decodes in real time. */
  decodersPerCore: 4,
  decodersMax: 12,
  /** Time that a decoder takes for a second of sound: the first estimate, and the seconds of sound that the mean covers. */
  realTimeFactor: { first: 0.12, overSeconds: 60 },
  /** Share of the decoders' time that listeners may fill, and share of its own time that each listener speaks. */
  placeShare: 0.6,
  placeSpeech: { live: 0.5, file: 1 },
  /** Files of one agent that are transcribed at a time, so that other agents find a free decoder. */
  filesPerAgent: 2,
  /** Undecoded sound of a closed stream above which its decoder is replaced at once instead of finishing. */
  decoderBacklogSeconds: 2,
  /** Sound that a stream may be ahead of its decoder before the stream fails. */
  decoderBehindSeconds: 120,
  /** Time without sound within an utterance after which a stream gives its decoder back. */
  decoderStallMs: 1_000,
  decoderRetrySeconds: 5,
  decoderPostMs: 100,
  partialEveryMs: 200,
  /** Length after which an utterance is cut at the next quiet moment, and length at which it is cut in any case. */
  utteranceSoftSeconds: 12,
  utteranceHardSeconds: 20,
  /** Sound after which a decoder is replaced between streams, since its heap is of fixed size. */
  decoderLifeSeconds: 600,
  /** Words of a grammar after its rules are expanded. */
  grammarWords: 4_096,
  /**
   * Optional or repeated parts of a grammar after its rules are expanded. A hundred in a row take 0.7 s to join, three hundred
   * 20 s.
   */
  grammarOptionals: 128,
  /** Nested brackets and rules of a grammar. Sixteen nested repetitions end in a trap. */
  grammarDepth: 24,

  speechTextChars: 10_000,
  speechChunkChars: 200,
  /** Characters of a text's first chunk: fewer than `speechChunkChars`, so that the first sound comes soon. */
  speechFirstChunkChars: 100,
  speechSpeed: { min: 0.25, max: 4 },
  /** Characters of one chunk as it is spoken, where a digit counts as six. */
  speechChunkSpokenChars: 400,
  speechCallsInFlight: 64,
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
  /** Speech requests of one agent under way at a time, so that other agents are served too. */
  speechesPerAgent: 16,
  /**
   * Bounds of the queue before each engine, where agents take turns. Of the two pieces at the engine, one runs while the other
   * waits.
   */
  line: { atOnce: 2, waiting: 2_048, waitingPerUser: 64 },
  /** Bounds of the queue before the TTS. Each call of an agent has one piece in the queue, and no call may be mute. */
  speechLine: { atOnce: 2, waiting: 2_048, waitingPerUser: 512 },

  embedTexts: 2_048,
  embedTextChars: 8_192,
  embedBatch: 16,
  /** Characters of all texts in a batch. One text alone may be longer. */
  embedBatchChars: 4_096,

  /** Characters of a text whose tokens are counted; the rest counts in proportion. One batch takes some 10 ms. */
  countChars: 262_144,
  countBatchChars: 16_384,

  guideQuestionChars: 1_000,
  guideResultChars: 16_384,
  /** Characters of all tool schemas and of the answer schema of one request, as written. */
  guideSchemaChars: 262_144,
  /** Time to fill one schema and check the value, and most values and references of a schema. */
  schemaMs: 1_000,
  schemaNodes: 1_000,
  schemaDepth: 32,
  schemaTextChars: 16_384,
  textCallsInFlight: 64,
  arithmeticChars: 200,

  vadStreams: 1_024,
  /** Time after which an answer of the voice-activity model is ignored. The gate decides in its place. */
  vadLateMs: 100,
  vadBatchFrames: 64,
} as const;
