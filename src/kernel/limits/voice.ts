/** Of sockets and of what is said on them. */
export const VOICE_LIMITS = {
  // Sockets
  socketMessageBytes: 1024 * 1024,
  /** The library buffers what is unfinished up to here, and cuts off without a frame what is longer. */
  socketHardMessageBytes: 1024 * 1024 + 64 * 1024,
  /**
   * Of one socket: two minutes of sound at once, and then ten times as fast as any is played; and how long this process may be
   * at its messages, of which fifty frames of sound a second take about five.
   */
  socketRates: {
    bytes: { burst: 16 * 1024 * 1024, perSecond: 1024 * 1024 },
    busyMs: { burst: 500, perSecond: 100 },
  },
  /** Bytes that a shorter message counts as, and a ping or a pong: each costs the server that much work. */
  socketLeastBytes: 256,
  socketPingBytes: 4 * 1024,
  /** Of all sockets, in one turn of the event loop; further messages wait for the next one. */
  socketMsPerTurn: 5,
  /**
   * Bounds of the messages that wait. A socket closes beyond `socket`, or beyond `link` where this server is the client. The server
   * stops reading a socket beyond `ahead`, all sockets of an agent beyond `owner`, and all sockets beyond `all`.
   */
  socketsWaiting: {
    socket: { messages: 8_192, bytes: 16 * 1024 * 1024 },
    link: { messages: 4_096 },
    ahead: { messages: 64, bytes: 256 * 1024 },
    owner: { messages: 2_048, bytes: 8 * 1024 * 1024 },
    all: { messages: 8_192, bytes: 64 * 1024 * 1024 },
  },
  /** Budgets of a socket at an upstream or an application. The socket is not read while it is over them. */
  linkRates: {
    bytes: { burst: 16 * 1024 * 1024, perSecond: 4 * 1024 * 1024 },
    busyMs: { burst: 100, perSecond: 100 },
  },
  /** The same of all such sockets of an agent. */
  agentLinkRates: {
    bytes: { burst: 64 * 1024 * 1024, perSecond: 32 * 1024 * 1024 },
    busyMs: { burst: 1_000, perSecond: 600 },
  },
  socketBackpressureBytes: 1024 * 1024,
  /** Unless `SOCKETS_PER_AGENT` says otherwise. */
  socketsPerAgent: 100,
  socketsPerAddress: 2_500,
  /** A socket that says nothing for 24 s is pinged and closed 16 s later: proxies on the way cut what is silent for 60. */
  socketIdleSeconds: 40,
  /** Of a connection from this process to itself, before it listens. */
  upgradeGateMs: 10_000,
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
  /** After the last audio: how long the money for what waits may take. With the finals it fits a usual drain. */
  transcriptionHoldMs: 15_000,
  /** After that: how long the remaining finals may take, at most and while nothing more of them is transcribed. */
  transcriptMostMs: 120_000,
  transcriptFinishMs: 10_000,
  /** What may be unsent of generated speech before synthesis waits for the client. */
  speechUnsentBytes: 256 * 1024,
  speechDeltaMs: 200,
  liveSessions: 10_000,

  // Realtime sessions
  /** Longer speech is committed by itself. One turn's reserve covers twice as much. */
  utteranceSeconds: 60,
  /**
   * Where a transcriber is lost: the sound of the utterance that the next one gets, for how long others are tried, and how long the
   * lost one rests.
   */
  transcriberReplayMs: 15_000,
  transcriberTriesMs: 10_000,
  transcriberRestMs: 30_000,
  /** Utterances in a row that no source transcribes, before a session or call ends. */
  lostUtterances: 2,
  /** Sessions that one utterance may open at turn-finding recognisers. */
  turnSessions: 3,
  /** Deadlines of a turn-finding recogniser: to end a turn that has begun, and to find first words. */
  turnEndMs: 2_000,
  turnWordsMs: 600,
  /** Without speech its session ends, since some bill open sessions. */
  turnIdleMs: 5_000,
  /** A recogniser is lost after this number of utterances in a row, each of this length, without a word. */
  turnMute: { utterances: 2, leastMs: 1_500 },
  /** A commit of less than this holds nothing to transcribe. */
  commitMinMs: 100,
  realtimeItems: 256,
  /** The protocol's own bound of instructions and tools is 16,384 tokens; of what is written in Latin letters, this. */
  realtimeItemChars: 65_536,
  realtimeConversationChars: 131_072,
  /** One image as its event brings it, and all that a conversation keeps. */
  realtimeImageChars: 1_000_000,
  realtimeImagesChars: 2_097_152,
  realtimeInstructionsChars: 65_536,
  realtimeTools: 128,
  realtimeToolsChars: 65_536,
  realtimeInputTokens: 4_096,
  /** Of one answer, spoken or written. */
  realtimeReplyChars: 65_536,
  /** The same with what the model thought and what it called with. */
  realtimeAnswerChars: 262_144,
  realtimeTurnMs: 120_000,
  /** A decoder goes back to the pool when its session has not spoken for this long. */
  realtimeDecoderIdleMs: 30_000,
  realtimeEventsPerSecond: 200,
  realtimeEventBurst: 2_000,
  realtimeIdleSeconds: 900,

  // Realtime sessions made of several models
  /** Of what a chat model is asked with: held for every turn. One that is asked with more holds more. */
  cascadePromptBytes: 16_384,
  /** Of the conversation, beside instructions and tools: some forty minutes of talk. */
  cascadeConversationBytes: 32_768,
  /** Of one answer, whatever its model could write. */
  cascadeOutputTokens: 4_096,
  cascadeSpokenChars: 4_096,

  // Client secrets
  clientSecretSeconds: { min: 10, max: 7_200, usual: 600 },
  /** They travel in a header, and common proxies take lines of 8 KiB. */
  clientSecretChars: 7_168,
  /** Of a session that one carries, as JSON before it is packed; far more than most of them pack into so few. */
  clientSecretSessionBytes: 192 * 1024,

  // Realtime sessions at an upstream
  /** One frame of an upstream; an item that is retrieved comes with its sound. */
  relayFrameBytes: 4 * 1024 * 1024,
  /** What a client has not taken before its upstream is read no further. */
  relayUnsentBytes: 256 * 1024,
  /** How long a client may take to catch up before it is cut off. */
  relayStallMs: 30_000,
  /** What an upstream has not taken before its client is cut off: a client cannot be made to wait. */
  relayUntakenBytes: 1024 * 1024,
  /** What may wait behind a turn that is being journaled, beyond one frame. */
  relayWaitingBytes: 1024 * 1024,
  relayPingMs: 20_000,
  /** How long an upstream may take to answer a close frame. */
  relayCloseMs: 2_000,
  /** After the client has left in the middle of a turn: how long its upstream may take to say what it came to. */
  relayFinishMs: 3_000,
  /** Responses under way at once. */
  relayResponses: 16,
  /** Recordings of sessions, where an operator asks for them. */
  tapes: { files: 64, bytes: 33_554_432, unwrittenBytes: 4_194_304 },
  /** Turns that are known to be billed, so that none is billed twice. */
  relayKnownTurns: 1_024,
  /** Of sound in a frame: 24 kHz of 16 bits, in base64. */
  relaySoundBytesPerSecond: 64_000,
  /** Sessions that are billed by their time are billed this often, and hold as much for so many times. */
  relaySliceSeconds: 10,
  relayHeldSlices: 3,
  /** No relayed token of sound is shorter, in base64 at the smallest rate. */
  relayHeardTokenBytes: 1_000,
  /** Tokens that an upstream may count beyond what was carried: of input sound, and of an answer. */
  relayUncarriedTokens: { heard: 256, answered: 64 },
  /** The smallest turn that is held where the money does not reach for a full one: 25 s of input, 3 s of answer. */
  relayLeastTurn: { inputTokens: 256, outputTokens: 64 },
  /** Tokens of new input that are held for each token of an answer. */
  relayInputPerOutput: 4,

  // Live sessions, in the protocol of `/v1/live/sessions`
  /** How long a client may take to send `session.start`. */
  liveStartMs: 30_000,
  /** How long a session lasts at most. */
  liveSeconds: 7_200,
  /** How far ahead of real time speech is sent: the protocol has no event that clears what a client has not played. */
  liveAheadMs: 200,
  /** How long an answer may take that is sent in real time: the longest text, spoken slowly. */
  liveTurnMs: 600_000,
  /** Of one answer of the local engines, in words: more than are spoken in that time. */
  liveOutputTokens: 4_096,
  /** Messages of the history that a session may begin with. */
  liveItems: 128,
  /** One text that is appended while the session lasts: 500 tokens by the protocol. */
  liveAppendChars: 4_096,
  /** Texts that wait to be spoken. */
  liveCommentaries: 8,
  /** How often the hold of a session at an upstream is compared with the time. */
  liveCheckMs: 1_000,
  /** Longest wait of an ended session for its caller to hear the last words, before it is settled. */
  heardOutMs: 20_000,
  /** Seconds that another party's count may exceed the time that passed here. */
  liveRoundingSeconds: 1,

  // Live transcription at an upstream
  /** By so much its count of what it has heard may be above what it was sent. */
  listenRoundingSeconds: 1,
  /** One frame of an upstream; all of them are read. */
  listenFrameBytes: 256 * 1024,
  /** An upstream that says nothing unasked is taken for alive when it has not closed so long after the upgrade. */
  listenOpeningMs: 50,
  /** So often an upstream hears that a client without such a word is still there. */
  listenKeepAliveMs: 4_000,
  sampleRateHz: { min: 8_000, max: 48_000 },
} as const;
