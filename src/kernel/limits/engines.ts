/** Of the engines inside this process, each in a worker thread. */
export const ENGINE_LIMITS = {
  /** A worker that answers nothing for so long is ended; its calls fail. */
  hungAfterMs: 30_000,
  /** How long a worker may take to leave by itself. */
  endGraceMs: 2_000,
  /** A worker that crashes twice in a row rests, longer each time. */
  restartFirstMs: 250,
  restartMaxMs: 10_000,
  workerHeapMb: 512,
  /** Below the media loop, where the system has priorities for threads: long work further below. */
  niceness: { decoder: 5, other: 2 },

  decodersMax: 4,
  /** A decoder whose caller left so much undecoded is replaced rather than waited for. */
  decoderBacklogSeconds: 2,
  /** A stream that sends so much faster than its decoder listens fails. */
  decoderBehindSeconds: 120,
  decoderRetrySeconds: 5,
  decoderPostMs: 100,
  partialEveryMs: 200,
  /** An utterance is cut at the first quiet moment after the first figure, and anyhow at the second. */
  utteranceSoftSeconds: 12,
  utteranceHardSeconds: 20,
  /** A decoder is renewed between streams when it has heard so much: its heap is fixed. */
  decoderLifeSeconds: 600,
  /** Words of a grammar with its rules written out. */
  grammarWords: 4_096,

  speechTextChars: 10_000,
  speechChunkChars: 200,
  /** The first chunk is shorter, so that the first sound comes soon. */
  speechFirstChunkChars: 100,
  speechSpeed: { min: 0.25, max: 4 },
  speechCallsInFlight: 64,

  embedTexts: 2_048,
  embedTextChars: 8_192,
  embedBatch: 16,

  guideQuestionChars: 1_000,
  textCallsInFlight: 64,
  arithmeticChars: 200,

  vadStreams: 1_024,
  /** An answer that is later than this is no answer: the gate decides. */
  vadLateMs: 100,
  vadBatchFrames: 64,
} as const;
