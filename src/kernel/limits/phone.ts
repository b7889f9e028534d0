/** Phone numbers and calls (spec, Limits; contract B §3). */
export const PHONE_LIMITS = {
  graceMs: 7 * 86_400_000,
  /** A rental that could not be paid is tried again so often, beside each rise of the balance. */
  rentalRetryMs: 86_400_000,
  /** A purchase or a release that its process did not finish is taken up after so long. */
  unfinishedMs: 60_000,
  duePerPass: 50,
  passesPerTick: 10,
  /** How often it is looked for what is due, and for numbers in grace whose agent has money again. */
  renewEveryMs: 30_000,
  /** The longest wait for an answer of the carrier. */
  carrierMs: 30_000,
  /** A purchase that came to nothing is asked for once more by then: the carrier may have sold the number late. */
  lateSaleMs: 600_000,
  /** Ids that the posting of one month may take, of which the ledger has released all but the last. */
  rentalPostings: 5,
  searchResults: 20,
  searchesPerMinute: 30,
  /** How many numbers one purchase tries to buy, where other customers of the carrier buy them first. */
  purchaseTries: 4,
  /** Numbers of an agent in its list, and calls of a number in its own: the latest. */
  numbersListed: 1_000,
  callsListed: 100,
  usageDays: { usual: 30, most: 365 },
  /** Charges of an agent that a report of one of its numbers reads, the latest. */
  usageRowsRead: 100_000,
  /** The most that one call may cost, and what it reserves where its caller names nothing. */
  callCeilingRaw: 2_000_000n,
  callsPerAgent: 3,
  callsPerAccount: 10,
  /** A call without a media stream is over by then: the longest ringing, and what the carrier takes around it. */
  ringSeconds: 60,
  /** A call waits so long for its turn at a carrier. */
  dialWaitMs: 10_000,
  longestCallSeconds: 3_600,
  /** No carrier keeps a call for longer; what it tells beyond that is no bill of it. */
  longestToldSeconds: 86_400,
  /** A carrier counts from the answer, and cuts a call so much later: its last words come first. */
  carrierMarginSeconds: 60,
  /** How long after its longest life a call may be open before the carrier is asked about it. */
  sweepGraceMs: 30_000,
  /** After a hang-up that the carrier failed it is asked again; while it fails, so often. */
  hangUpAgainMs: { first: 2_000, next: 5_000 },
  webhookMs: 30_000,
  webhookBytes: 65_536,
  /** Characters that are spoken of one answer of a voice webhook. */
  webhookSpokenChars: 1_500,
  webhookHistoryTurns: 10,
  /** Of an answer's headers. */
  webhookHeaderBytes: 16_384,
  /** A relay application may take so long to begin an answer, and to connect. */
  relayAnswerMs: 30_000,
  relayConnectMs: 10_000,
  /** An answer that has begun is over when nothing of it comes for so long. */
  relayQuietMs: 10_000,
  relayMessageBytes: 65_536,
  /** A burst of messages of a relay application, and how many a second may follow it. */
  relayMessageBurst: 2_000,
  relayMessagesPerSecond: 500,
  /** Messages of a relay application that make no sense: the last of so many ends the call. */
  relayMalformed: 3,
  /** Text and actions of a relay application that no answer has taken yet. */
  relayWaitingChars: 65_536,
  relayWaitingPieces: 4_096,
  /** Messages to a relay application that is being connected to. */
  relayOutbox: 64,
  /** Connections of one call after its first. */
  relayReconnects: 3,
  relayTokenChars: 16_384,
  relayShownChars: 200,
  digits: 64,
  /** The longest that a carrier takes for one of them, and for a `W` twice that. */
  digitMs: 500,
  transferSummaryChars: 2_000,
  /** Turns of a call that its summary and its report read. */
  reportTurns: 2_000,
  /** Of the transcript in an event. */
  reportTextChars: 32_768,
  reportDays: 30,
  /** How long after its end a call is analyzed: its last words may be written behind it. */
  analysisDelayMs: 2_000,
  /** The model that analyzes a call: how long it may take, its longest answer, and how much of the agent's system prompt it gets. */
  verdict: {
    answerMs: 30_000,
    outputTokens: 1_024,
    answerChars: 8_192,
    reasonChars: 500,
    purposeChars: 4_096,
  },
  /** How long a carrier keeps recordings, unless the settings say otherwise. */
  recordingDays: 30,
  /** Of one recording: an hour of two channels of 16-bit sound at 8 kHz, and its header. */
  recordingBytes: 120_000_000,
  /** The carrier is asked for a recording whose callback has not come, at first so often. */
  recordingAskMs: 300_000,
  /** A recording is fetched within so long. */
  recordingFetchMs: 300_000,
  /** What the loopback carrier keeps in memory of one recording, and how many recordings. */
  loopbackRecordingSeconds: 300,
  loopbackRecordings: 20,
  systemPromptChars: 16_384,
  beginMessageChars: 1_500,
  voiceChars: 128,
  webhookUrlChars: 2_048,
  /** Of one message of a carrier's media stream: the longest chunk of a carrier, 30 s of G.711 in base64, and its frame. */
  mediaMessageBytes: 524_288,
  /** A media stream whose first message, `start`, has not come by then is closed; and how many may wait for it. */
  mediaStartMs: 10_000,
  mediaUnstarted: 1_000,
  /** Media streams that a call may be asked for in vain, one after another, and in all. */
  streamsMissed: 5,
  streamsPerCall: 200,
  /** Sound that the carrier has and has not played. */
  aheadMs: 1_000,
  /** So much of it has been played before more is sent, in one write. */
  refillMs: 400,
  /** How often a mark follows the sound, so that what was heard is known. */
  markMs: 200,
  /** A line whose media stream broke may come back within so long. */
  lineLostMs: 15_000,
  /** How long the end of a call waits for the carrier to have played the last words. */
  lastWordsMs: 12_000,
  /**
   * How long an answer may take on the line: four sounds of `soundSeconds` that it waits for, each with its fetch, a brain
   * of 30 s, and the longest text, spoken slowly.
   */
  turnMs: 1_800_000,
  /** Silence after an answer until the caller is prompted, and how often before the call is ended. */
  promptAfterMs: 12_000,
  prompts: 2,
  /** Silence that ends a turn of the far side, and one whose words lead on to others (`bench turn-taking` has the figures). */
  turnSilenceMs: 300,
  unfinishedSilenceMs: 1_000,
  /** Speech over an answer pauses it after so long, and ends it once words are known that are more than a sign of listening. */
  bargeInMs: 250,
  /** Keys that follow one another within so long are one entry. */
  digitsMs: 1_500,
  keys: 32,
  /** Keys of a sensitive entry that are not taken, or come after its end, are dropped until none follows for so long. */
  keypadRestMs: 5_000,
  /** Silence of the keypad after which an entry is over that a brain has asked for. */
  gatherSeconds: { usual: 10, most: 60 },
  machineMessageChars: 1_500,
  /** How often, and for how long after the answer, a process asks its database who has answered. */
  machinePollMs: 1_000,
  machineMs: 60_000,
  /** A greeting of a machine whose end the carrier does not report is over after so long. */
  machineGreetingMs: 40_000,
  /** A transfer that has not come back by then was answered: the longest ringing, and what the carrier takes around it. */
  transferMs: 75_000,
  transferPollMs: 1_000,
  /** The shortest time limit that the carrier gets for a transferred call, also where its reserve pays for less. */
  leastTransferSeconds: 60,
  /** Of a sound that a brain has played: its file, and how much of it is heard. */
  soundBytes: 10_485_760,
  soundFetchMs: 10_000,
  soundSeconds: 300,
  soundsWaiting: 4,
  /** Telnyx sends a few KiB, with the signed addresses of a recording; Twilio less than 3, without add-ons. */
  callbackBytes: 16_384,
  callbackParameters: 200,
  /** A callback of a carrier that signs a time is refused when that is further away. */
  callbackAgeMs: 300_000,
  carrierTimeoutMs: 10_000,
  carrierAnswerBytes: 1_048_576,
  /** How often, and after which pause, a carrier is asked whether an order of a number is carried out. */
  orderChecks: 12,
  orderCheckMs: 500,
  /** After the end of a call its carrier is asked for the price: first after the shortest wait, then ever later. */
  carrierPrice: { shortestWaitMs: 60_000, longestWaitMs: 7_200_000, givenUpMs: 86_400_000 },
  /** The carrier counts from the answer, this server from the media stream: so much apart they may be. */
  durationToleranceSeconds: 5,
  suspensionReasonChars: 64,
  suspensionPage: { usual: 100, most: 1_000 },
  doNotCallEntries: 10_000,
  doNotCallPage: { usual: 100, most: 1_000 },
} as const;
