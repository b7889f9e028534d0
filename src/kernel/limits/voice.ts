/** Limits of sockets, live transcription and voice sessions. */
export const VOICE_LIMITS = {
  // Sockets
  socketMessageBytes: 1024 * 1024,
  /**
   * Bytes up to which the library buffers an unfinished message. A longer message ends the connection without a close frame.
   */
  socketHardMessageBytes: 1024 * 1024 + 64 * 1024,
  /**
   * Budget of one socket's messages. `bytes`: two minutes of sound at once, then ten times real time; `busyMs`: time that this
   * process spends on the messages, of which fifty frames of sound a second take about five.
   */
  socketRates: {
    bytes: { burst: 16 * 1024 * 1024, perSecond: 1024 * 1024 },
    busyMs: { burst: 500, perSecond: 100 },
  },
  socketBackpressureBytes: 1024 * 1024,
  socketsPerAddress: 2_500,
  /**
   * Seconds without data after which a socket closes. A socket is pinged after 24 s of silence: proxies on the way cut a
   * connection that is silent for 60 s.
   */
  socketIdleSeconds: 40,
  /** Time for the connection of this process to itself that is made before it listens. */
  upgradeGateMs: 10_000,
  closeReasonBytes: 123,
  transcriptionIdleSeconds: 60,
  /**
   * Seconds after which a Deepgram socket closes: `listenIdleSeconds` without any message, `listenKeptSeconds` without audio
   * while `KeepAlive` messages come.
   */
  listenIdleSeconds: 10,
  listenKeptSeconds: 900,
  /** Silence that ends an utterance on a Deepgram socket. Below the minimum every breath would cut a sentence in two. */
  listenEndpointingMs: { min: 300, usual: 500, max: 5_000 },
  utteranceEndMs: { min: 1_000, max: 5_000 },
  clientMessageChars: 1_024,
  /** Seconds by which audio may arrive ahead of real time. A client that sends faster is cut off. */
  audioAheadSeconds: 120,
  /** Unsent bytes of generated speech at which synthesis waits for the client. */
  speechUnsentBytes: 256 * 1024,
  speechDeltaMs: 200,
  liveSessions: 10_000,

  // Realtime sessions
  /**
   * After the loss of a transcriber: sound of the current utterance that the next transcriber gets, time in which others are
   * attempted, and time that the lost transcriber is not used.
   */
  transcriberReplayMs: 15_000,
  transcriberTriesMs: 10_000,
  transcriberRestMs: 30_000,
  /** Utterances in a row that no source transcribes, before a session or call ends. */
  lostUtterances: 2,
  /**
   * Longest waits for sound of a voice, before the first sound and in the middle of a sentence, and the rest of a voice that was lost.
   */
  voiceFirstSoundMs: 6_000,
  voiceStallMs: 3_000,
  voiceRestMs: 30_000,
  /** Sessions that one utterance may open at turn-finding recognisers. */
  turnSessions: 3,
  /** Deadlines of a turn-finding recogniser: to end a turn that has begun, and to find first words. */
  turnEndMs: 2_000,
  turnWordsMs: 600,
  /** Time without speech after which a recogniser's session ends, since some vendors bill open sessions. */
  turnIdleMs: 5_000,
  /** A recogniser is lost after this number of utterances in a row, each of this length, without a word. */
  turnMute: { utterances: 2, leastMs: 1_500 },
  /** Least speech of a commit. A shorter commit holds nothing to transcribe. */
  commitMinMs: 100,
  realtimeItems: 256,
  realtimeConversationChars: 131_072,
  /** Characters of one image in its event, and of all images that a conversation keeps. */
  realtimeImageChars: 1_000_000,
  realtimeImagesChars: 2_097_152,
  realtimeInstructionsChars: 65_536,
  realtimeTools: 128,
  realtimeToolsChars: 65_536,
  realtimeInputTokens: 4_096,
  /** Characters of one answer, spoken or written. */
  realtimeReplyChars: 65_536,
  /** Characters of one answer with the model's reasoning and the arguments of its tool calls. */
  realtimeAnswerChars: 262_144,
  /** Time without speech after which a session's decoder goes back to the pool. */
  realtimeDecoderIdleMs: 30_000,
  realtimeEventsPerSecond: 200,
  realtimeEventBurst: 2_000,
  realtimeIdleSeconds: 900,

  // Realtime sessions made of several models
  /** Bytes of a chat model's prompt that the hold of every turn covers. A turn with a longer prompt holds more. */
  cascadePromptBytes: 16_384,
  /** Bytes of the conversation in a prompt, beside instructions and tools: some forty minutes of talk. */
  cascadeConversationBytes: 32_768,
  /** Tokens of one answer, even from a model that could write more. */
  cascadeOutputTokens: 4_096,
  cascadeSpokenChars: 4_096,

  // Client secrets

  // Realtime sessions at an upstream
  /** Bytes of one frame of an upstream. A retrieved item comes with its sound. */
  relayFrameBytes: 4 * 1024 * 1024,
  /** Unsent bytes of a client at which its upstream is not read further. */
  relayUnsentBytes: 256 * 1024,
  /** Time for a client to catch up before it is cut off. */
  relayStallMs: 30_000,
  /** Bytes that an upstream has not taken at which its client is cut off, since a client cannot be made to wait. */
  relayUntakenBytes: 1024 * 1024,
  /** Bytes that wait behind a turn that is being journaled, beyond one frame. */
  relayWaitingBytes: 1024 * 1024,
  /** Responses of one session that are under way at once. */
  relayResponses: 16,
  /** Bounds of the recordings of sessions, which are made when an operator turns them on. */
  tapes: { files: 64, bytes: 33_554_432, unwrittenBytes: 4_194_304 },
  /** Billed turns that a session remembers, so that no turn is billed twice. */
  relayKnownTurns: 1_024,
  /** Bytes for each second of sound in a frame: 24 kHz of 16 bits, in base64. */
  relaySoundBytesPerSecond: 64_000,
  /** Length of a slice of a session that is billed by its time. The session's hold covers `relayHeldSlices` slices. */
  relaySliceSeconds: 10,
  relayHeldSlices: 3,
  /** No relayed token of sound is shorter, in base64 at the smallest rate. */
  relayHeardTokenBytes: 1_000,
  /** Tokens that an upstream may count beyond the sound and text that were relayed: of input sound, and of an answer. */
  relayUncarriedTokens: { heard: 256, answered: 64 },
  /** Tokens of the smallest turn that is held when the balance does not cover a full turn: 25 s of input, 3 s of answer. */
  relayLeastTurn: { inputTokens: 256, outputTokens: 64 },
  /** Tokens of new input that are held for each token of an answer. */
  relayInputPerOutput: 4,

  // Live sessions, in the protocol of `/v1/live/sessions`
  /** Time for a client to send `session.start`. */
  liveStartMs: 30_000,
  /** Longest life of a session. */
  liveSeconds: 7_200,
  /** Time that speech is sent ahead of real time. The protocol has no event that clears sound which a client has not played. */
  liveAheadMs: 200,
  /** Time for one answer that is sent in real time: the longest text, spoken slowly. */
  liveTurnMs: 600_000,
  /** Words of one answer of the local engines: more than are spoken in `liveTurnMs`. */
  liveOutputTokens: 4_096,
  /** Messages of the history that a session may begin with. */
  liveItems: 128,
  /** Characters of one text that is appended during a session: 500 tokens by the protocol. */
  liveAppendChars: 4_096,
  /** Texts that wait to be spoken. */
  liveCommentaries: 8,
  /** Interval at which the hold of a session at an upstream is compared with the time. */
  liveCheckMs: 1_000,
  /** Longest time from the end of a session to its settlement, in which its caller hears the last words. */
  heardOutMs: 20_000,

  // Live transcription at an upstream
  /** Seconds by which an upstream's count of its audio may exceed the audio that it was sent. */
  listenRoundingSeconds: 1,
  /** Time without a message after which an upstream gets a keep-alive message, since it closes a stream without audio. */
  listenKeepAliveMs: 4_000,
  sampleRateHz: { min: 8_000, max: 48_000 },
} as const;
