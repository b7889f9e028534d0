/** Limits of live transcription and of voice sessions. */
export const VOICE_LIMITS = {
  liveSessions: 10_000,
  /** Seconds by which audio may arrive ahead of real time. A client that sends faster is cut off. */
  audioAheadSeconds: 120,
  sampleRateHz: { min: 8_000, max: 48_000 },
  /** Utterances in a row that no source transcribes, before a session or call ends. */
  lostUtterances: 2,
  /** Longest time from the end of a session to its settlement, in which its caller hears the last words. */
  heardOutMs: 20_000,
  speechDeltaMs: 200,
  /** Unsent bytes of generated speech at which synthesis waits for the client. */
  speechUnsentBytes: 256 * 1024,
  /** Output tokens of one answer by a model without a limit of its own: more than the longest answer of `/v1/live/sessions`. */
  liveOutputTokens: 4_096,
  /** Bounds of the recordings of sessions, which are made when an operator turns them on. */
  tapes: { files: 64, bytes: 33_554_432, unwrittenBytes: 4_194_304 },
  transcription: {
    idleSeconds: 60,
    reserveSeconds: 10,
    /** Least speech of a commit. A shorter commit holds nothing to transcribe. */
    commitMinMs: 100,
  },
  transcriber: {
    /**
     * After the loss of a transcriber: sound of the current utterance that the next transcriber gets, time in which others are
     * attempted, and time that the lost transcriber is not used.
     */
    replayMs: 15_000,
    triesMs: 10_000,
    restMs: 30_000,
  },
  voice: {
    /**
     * Longest waits for sound of a voice, before the first sound and in the middle of a sentence, and the rest of a voice that was lost.
     */
    firstSoundMs: 6_000,
    stallMs: 3_000,
    restMs: 30_000,
  },
  turn: {
    /** Sessions that one utterance may open at turn-finding recognisers. */
    sessions: 3,
    /** Deadlines of a turn-finding recogniser: to end a turn that has begun, and to find first words. */
    endMs: 2_000,
    wordsMs: 600,
    /** Time without speech after which a recogniser's session ends, since some vendors bill open sessions. */
    idleMs: 5_000,
    /** A recogniser is lost after this number of utterances in a row, each of this length, without a word. */
    mute: { utterances: 2, leastMs: 1_500 },
  },
  listen: {
    messageChars: 1_024,
    /** Seconds by which an upstream's count of its audio may exceed the audio that it was sent. */
    roundingSeconds: 1,
    /** Time without a message after which an upstream gets a keep-alive message, since it closes a stream without audio. */
    keepAliveMs: 4_000,
  },
  realtime: {
    items: 256,
    conversationChars: 131_072,
    /** Characters of all images that a conversation keeps. */
    imagesChars: 2_097_152,
    tools: 128,
    inputTokens: 4_096,
    /** Characters of one answer, spoken or written. */
    replyChars: 65_536,
    /** Characters of one answer with the model's reasoning and the arguments of its tool calls. */
    answerChars: 262_144,
    /** Time without speech after which a session's decoder goes back to the pool. */
    decoderIdleMs: 30_000,
    eventsPerSecond: 200,
    eventBurst: 2_000,
    idleSeconds: 900,
  },
  cascade: {
    /** Bytes of a chat model's prompt that the hold of every turn covers. A turn with a longer prompt holds more. */
    promptBytes: 16_384,
    /** Bytes of the conversation in a prompt, beside instructions and tools: some forty minutes of talk. */
    conversationBytes: 32_768,
    /** Tokens of one answer, even from a model that could write more. */
    outputTokens: 4_096,
    spokenChars: 4_096,
  },
  relay: {
    /** Bytes of one frame of an upstream. A retrieved item comes with its sound. */
    frameBytes: 4 * 1024 * 1024,
    /** Unsent bytes of a client at which its upstream is not read further. */
    unsentBytes: 256 * 1024,
    /** Time for a client to catch up before it is cut off. */
    stallMs: 30_000,
    /** Bytes that an upstream has not taken at which its client is cut off, since a client cannot be made to wait. */
    untakenBytes: 1024 * 1024,
    /** Bytes that wait behind a turn that is being journaled, beyond one frame. */
    waitingBytes: 1024 * 1024,
    /** Responses of one session that are under way at once. */
    responses: 16,
  },
} as const;
