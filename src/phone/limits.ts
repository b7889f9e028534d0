/** Limits of phone numbers and calls (spec, Limits; contract B §3). */
export const PHONE_LIMITS = {
  number: {
    graceMs: 7 * 86_400_000,
    /** Interval of the attempts to collect an unpaid rental, beside an attempt after each rise of the balance. */
    rentalRetryMs: 86_400_000,
    /** Time after which a purchase or release is resumed that its process left unfinished. */
    unfinishedMs: 60_000,
    /** Interval of the search for due numbers, and for numbers in grace whose agent has money again. */
    renewEveryMs: 30_000,
    /** The longest wait for an answer of the carrier. */
    carrierMs: 30_000,
    /** Time after the start of a failed purchase at which the carrier is queried for a late sale of the number. */
    lateSaleMs: 600_000,
    /** Ids that are tried for the charge of one month. A new id is used when the ledger has released the hold of the last one. */
    rentalPostings: 5,
    searchResults: 20,
    /** Numbers that one purchase attempts to buy when other customers of the carrier buy them first. */
    purchaseTries: 4,
    /** Latest numbers in an agent's list, and latest calls in a number's list. */
    listed: 1_000,
    callsListed: 100,
    usageDays: { usual: 30, most: 365 },
    /** Latest charges of an agent that the usage report of one of its numbers reads. */
    usageRowsRead: 100_000,
  },
  worker: {
    duePerPass: 50,
    passesPerTick: 10,
  },
  call: {
    /** Upper bound of the cost of one call, and the amount that a call reserves when its caller names none. */
    ceilingRaw: 2_000_000n,
    /** Seconds after which a call without a media stream is over: the longest ringing, and the carrier's time around it. */
    ringSeconds: 60,
    /** Ends of calls whose rows are not written yet: for how long each is kept, and how many. */
    endedEarlyMs: 60_000,
    endedEarly: 10_000,
    longestSeconds: 3_600,
    /** Longest duration of a call that a carrier's report is believed for. A longer reported duration is cut to this. */
    longestToldSeconds: 86_400,
    /** Seconds that this server adds to `longestSeconds` in the carrier's time limit, so that the last words are played. */
    carrierMarginSeconds: 60,
    /** Time after the longest life of a call at which the carrier is queried about a call that is still open. */
    sweepGraceMs: 30_000,
    /** Waits before a hang-up that failed at the carrier is repeated: the first wait, and each later wait. */
    hangUpAgainMs: { first: 2_000, next: 5_000 },
    /**
     * Time for one answer on the line: a responder's 30 s, four sounds of `sound.seconds` with their fetches, and the longest
     * text, spoken slowly.
     */
    turnMs: 1_800_000,
    /** Silence after an answer until the caller is prompted, and number of prompts before the call is ended. */
    promptAfterMs: 12_000,
    prompts: 2,
    /** Time that the end of a call waits for the carrier to play the last words. */
    lastWordsMs: 12_000,
    /** Time for a line to come back after its media stream broke. */
    lineLostMs: 15_000,
  },
  carrier: {
    /** Time that a call waits in the queue for its carrier. */
    dialWaitMs: 10_000,
    /**
     * Bytes and parameters of a carrier's callback. Telnyx sends a few KiB, with the signed URLs of a recording; Twilio less than
     * 3 KiB, without add-ons.
     */
    callbackBytes: 16_384,
    callbackParameters: 200,
    /** Largest difference between the time that a carrier has signed in a callback and now. Beyond it the callback is refused. */
    callbackAgeMs: 300_000,
    timeoutMs: 10_000,
    answerBytes: 1_048_576,
    /** Checks of a number order's state at the carrier, and the pause before each. */
    orderChecks: 12,
    orderCheckMs: 500,
    /** Waits before queries for the price of an ended call, and time after which the price is given up. */
    price: { shortestWaitMs: 60_000, longestWaitMs: 7_200_000, givenUpMs: 86_400_000 },
    /** Tolerated difference of durations: the carrier counts from the answer, this server from the media stream. */
    durationToleranceSeconds: 5,
    rateCardFileBytes: 64 * 1024,
    /** Seconds of one recording that the loopback carrier keeps in memory, and the number of recordings. */
    loopbackRecordingSeconds: 300,
    loopbackRecordings: 20,
  },
  agent: {
    systemPromptChars: 16_384,
    beginMessageChars: 1_500,
    voiceChars: 128,
    webhookUrlChars: 2_048,
    suspensionReasonChars: 64,
    suspensionPage: { usual: 100, most: 1_000 },
  },
  webhook: {
    timeoutMs: 30_000,
    answerBytes: 65_536,
    /** Characters of one answer of a voice webhook that are spoken. */
    spokenChars: 1_500,
    historyTurns: 10,
    /** Bytes of an answer's headers. */
    headerBytes: 16_384,
  },
  relay: {
    /** Time for a relay application to begin an answer, and to connect. */
    answerMs: 30_000,
    connectMs: 10_000,
    /** Time without further words after which an answer that has begun is over. */
    quietMs: 10_000,
    /** Pause after which a relay application's text is spoken: a finished sentence, and an unfinished sentence. */
    pauseMs: 400,
    longPauseMs: 1_500,
    /** Characters of the `handoffData` that a relay application returns at the end of a call. */
    handoffChars: 16_384,
    messageBytes: 65_536,
    /** Messages of a relay application in a burst, and messages a second after the burst. */
    messageBurst: 2_000,
    messagesPerSecond: 500,
    /** Malformed messages of a relay application that end its call. */
    malformed: 3,
    /** Characters and pieces (texts and actions) of a relay application that wait for an answer to use them. */
    waitingChars: 65_536,
    waitingPieces: 4_096,
    /** Messages that wait for the connection to a relay application. */
    outbox: 64,
    /** Reconnections to the relay application of one call. */
    reconnects: 3,
    tokenChars: 16_384,
    shownChars: 200,
  },
  /** Deadline and longest body of an inbound URL's answer. */
  inbound: { answerMs: 3_000, answerBytes: 65_536 },
  /** Bounds of the variables and of the metadata of one call: members, and characters of a text. */
  overrides: { entries: 50, variableChars: 1_000, metadataChars: 500 },
  /** Bounds of the settings by which developers decide how an agent listens and speaks. */
  conversation: {
    silenceMs: { least: 100, most: 8_000 },
    minWords: 10,
    interruptionMs: { least: 0, most: 2_000 },
    ignoreWords: 64,
    wordChars: 64,
    sayChars: 128,
    idle: { least: 3, most: 300 },
    keyterms: 100,
    speed: { least: 0.5, most: 2 },
    pronunciations: 100,
  },
  /** Bounds of the event streams of live calls: their readers, and the bytes that wait for a slow reader. */
  feed: {
    perCall: 8,
    perAccount: 100,
    readers: 2_000,
    bytes: 65_536,
    pollMs: 500,
    pollsPerCheck: 3,
    turnsPerPoll: 50,
  },
  /** Commands of a live call: their number, the interval at which a process looks for them, and their longest texts. */
  commands: { perCall: 200, pollMs: 500, sayChars: 1_500, injectChars: 4_096 },
  /** Tools of a hosted model: how many an agent has, and the bounds of one call of a tool. */
  tools: {
    most: 32,
    schemaChars: 16_384,
    descriptionChars: 1_024,
    fillerChars: 200,
    timeoutMs: { least: 500, usual: 10_000, most: 30_000 },
    answerBytes: 32_768,
    /** Hosts that a model may call with `call_vendor`, and characters of each. */
    hosts: 20,
    hostChars: 253,
    /** Characters of the arguments of one tool call, as the model wrote them. */
    argumentChars: 65_536,
    /** Time that a tool takes before a filler is spoken. */
    fillerAfterMs: 1_500,
    /** Tool calls at a time, answers with tool calls for one turn of the caller, and tool calls of a whole call. */
    running: 8,
    rounds: 5,
    perCall: 100,
  },
  /** Bounds of the schema by which a developer has a call analyzed. */
  analysis: {
    schemaChars: 8_192,
    schemas: 200,
    depth: 8,
    outputTokens: 2_048,
    answerChars: 16_384,
  },
  /** Bounds of the analysis of a call by a model: its time, its answer, and the part of the agent's system prompt. */
  verdict: {
    answerMs: 30_000,
    outputTokens: 1_024,
    answerChars: 8_192,
    reasonChars: 500,
    purposeChars: 4_096,
  },
  /** Batches of calls. */
  batch: {
    recipients: 1_000,
    bodyBytes: 2_097_152,
    /** Batches of one agent that are not over. */
    openPerAgent: 20,
    /** Recipients that an error names. */
    refusalsNamed: 100,
    nameChars: 100,
    /** Latest start of a batch after its order, and the age at which a batch gives up its recipients. */
    startWithinMs: 30 * 86_400_000,
    lifetimeMs: 30 * 86_400_000,
    /** Repeated calls of one recipient, and the wait before each. */
    retries: 10,
    retrySeconds: { least: 30, most: 86_400 },
    page: { usual: 100, most: 1_000 },
    batchPage: { usual: 20, most: 100 },
    /** Period between looks for due batches, batches that one look takes, and looks in one run. */
    tickMs: 250,
    duePerPass: 16,
    passesPerTick: 20,
    /** Lease of a process on a batch. */
    claimMs: 10_000,
    /** Calls that one batch begins in one turn, before other batches have their turns. */
    callsPerTurn: 10,
    /** Calls that are being placed for batches: in a process, and for one agent. */
    placing: { process: 64, agent: 16 },
    /** Milliseconds of the queue before a carrier that calls of batches may fill; the remaining time is for other calls. */
    lineMs: 5_000,
    /** A call that was begun and has no row by then was lost with its process. */
    lostMs: 10_000,
    /** Period between looks at a batch with calls under way. */
    pollMs: 500,
    /** Time until a call is begun anew after a refusal that passes. */
    againMs: 5_000,
    /** Calling hours begin at a quarter of an hour everywhere. */
    hoursStepMs: 900_000,
    /** Period between looks at a paused batch without calls. */
    pausedMs: 60_000,
    /** Recipients that are read, checked or written in one turn of the event loop. */
    perTurn: 25,
  },
  report: {
    /** Turns of a call that its summary and its report read. */
    turns: 2_000,
    /** Characters of the transcript in an event. */
    textChars: 32_768,
    days: 30,
    /** Time between the end of a call and its analysis, since its last words may be stored after its end. */
    analysisDelayMs: 2_000,
  },
  recording: {
    /** Largest recording: an hour of two channels of 16-bit sound at 8 kHz, and its header. */
    bytes: 120_000_000,
    /** First interval at which the carrier is queried for a recording whose callback has not come. */
    askMs: 300_000,
    /** Time for the download of a recording. */
    fetchMs: 300_000,
  },
  media: {
    /** Bytes of one message of a media stream: the longest chunk of any carrier, 30 s of G.711 in base64, and its frame. */
    messageBytes: 524_288,
    /** Time for a media stream to send its first message, `start`, and most streams that wait for their `start`. */
    startMs: 10_000,
    unstarted: 1_000,
    /** Media streams of one call: requested streams that never opened, and all requested streams. */
    streamsMissed: 5,
    streamsPerCall: 200,
    /** Duration of the sound that the carrier has received and not yet played. */
    aheadMs: 1_000,
    /** Sound that the carrier has played since the queue was full before more is sent, in one write. */
    refillMs: 400,
    /** Interval of the marks in outgoing sound, which tell how much of it was heard. */
    markMs: 200,
  },
  interruption: {
    /** Speech over an answer after which the answer pauses. It ends once words come that are more than a sign of listening. */
    bargeInMs: 250,
    /** Loud time from which a single word interrupts, if it is neither a sign of listening nor a word that always interrupts. */
    oneWordMs: 500,
    /** Loud time from which two words interrupt: recognisers make two words of a sign of listening such as "okay". */
    twoWordsMs: 350,
    /** The longest hum, such as "mm-hmm": recognisers make several words of it. */
    longestHumMs: 1_300,
    /** Words so near the end of a question answer it, where a sign of listening would be ignored elsewhere. */
    answerBeforeEndMs: 1_500,
    answerAfterEndMs: 700,
  },
  keypad: {
    digits: 64,
    /** Longest time that a carrier takes to send one digit. A `W` takes up to twice this time. */
    digitMs: 500,
    /** Time between two keys of one entry. */
    pauseMs: 1_500,
    keys: 32,
    /** Time without keys until a sensitive entry's keys, untaken or sent after the end of the entry, are no longer dropped. */
    restMs: 5_000,
    /** Seconds without a key after which an entry that a responder requested is over: the default, and the most. */
    gatherSeconds: { usual: 10, most: 60 },
  },
  machine: {
    messageChars: 1_500,
    /** Interval, and time since the answer, of a process's polls of its database for the answering-machine verdict. */
    pollMs: 1_000,
    timeoutMs: 60_000,
    /** Time after which a machine's greeting is over when the carrier does not report its end. */
    greetingMs: 40_000,
  },
  transfer: {
    summaryChars: 2_000,
    /** Time after which a transfer that has not come back was answered: the longest ringing, and the carrier's time around it. */
    timeoutMs: 75_000,
    pollMs: 1_000,
    /** Shortest time limit that the carrier gets for a transferred call, even if the call's reserve pays for less. */
    leastSeconds: 60,
  },
  sound: {
    /** Sound file that a responder plays: its bytes, the time of its fetch, the seconds that are played; files that wait. */
    bytes: 10_485_760,
    fetchMs: 10_000,
    seconds: 300,
    waiting: 4,
  },
  doNotCall: {
    entries: 10_000,
    page: { usual: 100, most: 1_000 },
  },
} as const;
