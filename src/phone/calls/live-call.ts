import type { Ending } from '../../../machines/transcription-stream.ts';
import type { TurnCause } from '../../../machines/voice-turn.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { AnswerRequest } from '../../voice/session/answer-request.ts';
import { writtenMessage } from '../../voice/session/conversation.ts';
import { scriptedAnswer } from '../../voice/session/scripted-llm.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import type { Played } from '../../voice/session/voice-client.ts';
import { VoiceSession } from '../../voice/session/voice-session.ts';
import type { VoiceSessionDeps } from '../../voice/session/voice-session-input.ts';
import type { Heard } from '../../voice/stt/transcriber-events.ts';
import type { MediaCodec, MediaEvent } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { Announcement } from '../recordings/announcement.ts';
import { type LineFigures, lineFigures } from '../records/line-figures.ts';
import type { CallTurn } from '../records/said-turn.ts';
import { timedPipeline } from '../records/timed-pipeline.ts';
import { TurnRecord } from '../records/turn-record.ts';
import { ToolTurns } from '../tools/tool-turns.ts';
import { BargeIn } from '../voice/barge-in.ts';
import { type ActionItem, type AnswerLabels, CallClient } from '../voice/call-client.ts';
import type { AnswerManner } from '../voice/call-parties.ts';
import { CallLine, type LineConnection } from '../voice/line/call-line.ts';
import { CallerSound } from '../voice/line/caller-sound.ts';
import { LostWords } from '../voice/lost-words.ts';
import { openCleaner } from '../voice/noise/line-cleaner.ts';
import { StreamHandover } from '../voice/stream-handover.ts';
import { bargeInRules } from '../voice/tuning/turn-settings.ts';
import { LiveActions } from './actions/live-actions.ts';
import { AfterAnswer } from './after-answer.ts';
import { CommandQueue } from './commands/command-queue.ts';
import { playOut } from './last-words.ts';
import type { ActionOfCall, LiveCallOptions } from './live-call-options.ts';
import { NamedTimers } from './named-timers.ts';

type SystemTurn = { readonly role: 'system'; readonly content: string };

/** Milliseconds between two bills of the line, each of which also renews the hold for the next turn. */
const BILLING_MS = 5_000;

/**
 * A call whose media stream is at this process: a voice session over a telephone line. It survives the loss of its stream for
 * `lineLostMs`, and ends exactly once.
 */
export class LiveCall {
  // The fields that every frame of sound needs stand first (docs/decisions/0109).
  readonly #sound: CallerSound;
  readonly line: CallLine;
  readonly actions: LiveActions;
  readonly #client: CallClient;
  readonly #session: VoiceSession;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #options: LiveCallOptions;
  readonly #bargeIn: BargeIn;
  readonly #record: TurnRecord;
  readonly #announcement: Announcement;
  readonly #after: AfterAnswer;
  readonly tools: ToolTurns;
  readonly commands = new CommandQueue(this);
  readonly #timers: NamedTimers;
  readonly #handover: StreamHandover;
  /** Monotonic time, in milliseconds, of the peer's last sound or of the opening of the present stream. */
  #soundAtMs: number;
  readonly #lostWords = new LostWords(this);
  #manner: AnswerManner = { mayBeInterrupted: true, isResting: false };
  #isAnswering = false;
  #isOver = false;

  constructor(
    deps: VoiceSessionDeps & { readonly clock: Clock; readonly random: Random; readonly log: Log },
    options: LiveCallOptions,
  ) {
    const { clock, random } = deps;
    const { codec, events, format, input } = options;
    this.#clock = clock;
    this.#soundAtMs = clock.monotonicMs();
    this.#random = random;
    this.#log = deps.log;
    this.#options = options;
    this.line = new CallLine({ clock, codec, format });
    this.#client = new CallClient({ clock, random, line: this.line, events: this.#clientEvents() });
    this.#record = new TurnRecord({
      clock,
      metrics: deps.metrics.of('call'),
      firstSoundAtMs: () => this.line.firstSoundAtMs,
      spoken: (itemId) => this.#session.spoken(itemId),
      ...options.events,
    });
    const pipeline = timedPipeline(input.pipeline, this.#record.latency);
    this.#session = new VoiceSession(deps, { ...input, pipeline }, this.#client);
    this.#bargeIn = new BargeIn({
      clock,
      line: this.line,
      isAnswering: () => this.#isAnswering && !this.#manner.isResting,
      interrupt: () => this.#record.interrupted(this.cutShort()),
      isAtQuestion: () => this.#isAtQuestion(),
      rules: bargeInRules(options.interruption),
    });
    this.#sound = new CallerSound({
      bargeIn: this.#bargeIn,
      suppresses: options.suppressesNoise,
      openCleaner: () => openCleaner(deps.noiseSuppressors, format),
      clock,
      format,
      log: deps.log,
      session: this.#session,
    });
    this.#announcement = this.#createAnnouncement();
    this.actions = new LiveActions({
      clock,
      random,
      log: deps.log,
      format,
      session: this.#session,
      line: this.line,
      sound: this.#sound,
      bargeIn: this.#bargeIn,
      announcement: this.#announcement,
      pipeline: input.pipeline,
      entered: (digits) => events.entered?.(digits),
      hearsKeys: options.hearsKeys,
      call: this,
    });
    this.tools = new ToolTurns(this.#session, () => this.actions.isMuted);
    this.#after = new AfterAnswer({
      log: deps.log,
      act: (action) => this.act(action),
      say: (text) => this.say(text),
      end: (reason) => this.end(reason),
      callTool: (item) => events.callTool?.(item),
      handOff: (data) => events.handOff?.(data),
      afterSpoken: (done) =>
        this.actions.sounds.afterSent(() =>
          this.line.afterPlayed(done, PHONE_LIMITS.call.lastWordsMs),
        ),
    });
    this.#timers = new NamedTimers(clock);
    this.#timers.repeat('billing', BILLING_MS, () => this.#session.billNow());
    this.#timers.after('longest', options.longestMs, () => this.end('max_duration'));
    this.#handover = new StreamHandover({
      actions: this.actions,
      line: this.line,
      session: this.#session,
      timers: this.#timers,
      announcement: this.#announcement,
      call: this,
      events,
      lineLostMs: options.lineLostMs,
    });
    for (const turn of options.history) this.#remember(turn);
    for (const text of options.injected ?? []) this.instruct(text);
    this.#session.awaitCaller();
    if (options.notice === undefined) this.#greet();
    else this.#announcement.begin(options.notice);
  }

  /** Promise that resolves when the call is settled. */
  get settled(): Promise<void> {
    return this.#session.settled;
  }

  /** Figures of the sound that came and went over the line of this process. */
  get lineFigures(): LineFigures {
    return lineFigures(this.#session.jitter, this.#sound.counters, this.line.dry);
  }

  /** For how long no sound has come over a stream that stands; 0 while none does, as when the call is transferred. */
  get silentMs(): number {
    if (!this.line.isAttached || this.actions.isTransferring) return 0;
    return this.#clock.monotonicMs() - this.#soundAtMs;
  }

  get config(): SessionConfig {
    return this.#session.config;
  }

  /** Attaches the carrier's media stream, for the first time or again. */
  attach(connection: LineConnection, codec: MediaCodec = this.#options.codec): void {
    this.#soundAtMs = this.#clock.monotonicMs();
    this.#handover.attach(connection, codec);
  }

  /** Handles one event of the carrier's media stream. */
  media(event: MediaEvent): void {
    if (event.kind === 'media') {
      this.#soundAtMs = this.#clock.monotonicMs();
      this.#sound.push(event.atMs, event.bytes);
    } else if (event.kind === 'mark') this.line.echoed(event.name);
    else if (event.kind === 'digit') this.#pressed(event.digit);
  }

  /** Handles the end of a stream, by default the present stream. The carrier may open another stream within `lineLostMs`. */
  detached(connection?: LineConnection): void {
    if (!this.#isOver) this.#handover.detached(connection);
    else this.#handover.gone(connection);
  }

  /** Adds a note for the responder to the history. */
  note(content: string): void {
    this.#remember({ role: 'user', content });
  }

  /** Adds a system message, which the model reads with its next answer. */
  instruct(text: string): void {
    this.#remember({ role: 'system', content: text });
  }

  act(action: ActionOfCall): void {
    this.#options.events.act(action);
  }

  /** Speaks a text without a model. False: another answer is in progress, or the call is muted. */
  say(text: string): boolean {
    return this.#begin(scriptedAnswer(this.#session.config, text));
  }

  /** Begins an answer of the responder that no turn of the caller prompted. False: as for `say`. */
  respond(): boolean {
    return this.#begin({ config: this.config, metadata: {}, isInConversation: true });
  }

  /**
   * Begins an answer of the responder: at once, or after the notice that the call is recorded when the notice is still being
   * said.
   */
  respondAfterNotice(): void {
    if (this.#announcement.isOpen) this.#announcement.asked();
    else this.respond();
  }

  /** Ends the call. The peer hears the sound in progress to its end, unless `reason` has an announcement. */
  end(reason: string): void {
    this.#session.fail({ code: 1000, reason });
  }

  /** Stops the sound in progress, and keeps the part that was heard. */
  cutShort(): readonly Played[] {
    this.actions.sounds.stop();
    const played = this.#session.bargeIn();
    this.#record.cut(played);
    return played;
  }

  /** Sets how the caller may interrupt the latest answer of the responder. */
  setManner(manner: AnswerManner): void {
    this.#manner = manner;
  }

  /** Stops the answer in progress, because the responder interrupts itself. */
  preempt(): void {
    if (this.#isAnswering || this.line.isPlaying) this.cutShort();
  }

  /** Handles the peer's hang-up: the rest of the sound was not heard. */
  hungUp(): void {
    if (this.#isOver) {
      this.#handover.gone(undefined);
      return;
    }
    this.line.forgetAfterPlayed();
    this.cutShort();
    this.#session.clientGone();
  }

  /** Closes the stream, because the process stops. Another process may go on with the call. */
  drain(): void {
    this.#handover.drain();
  }

  abandon(): void {
    this.#session.abandon();
  }

  #clientEvents() {
    return {
      speechStarted: (itemId: string) =>
        this.#bargeIn.speechStarted(itemId, { mayInterrupt: this.#mayInterrupt }),
      utteranceEnded: () => this.#record.latency.utteranceEnded(),
      interim: (itemId: string, text: string) => {
        this.#bargeIn.interim(itemId, text);
        this.#options.events.words?.('user', text);
      },
      words: (text: string) => this.#options.events.words?.('assistant', text),
      forgotten: (itemId: string) => this.#bargeIn.forgotten(itemId),
      heard: (itemId: string, heard: Heard) => {
        this.#bargeIn.heard(itemId, heard.text);
        this.#lostWords.heard(heard.text);
        this.#record.heard(heard, !this.#announcement.isOpen && this.#bargeIn.isAddressed);
        if (heard.text !== '') this.#options.events.callerSpoke?.();
      },
      isAddressed: () => this.#isAddressed(),
      transcriberFailed: (err: Error) => {
        this.#log.warn({ err }, 'a call lost an utterance');
        this.#lostWords.lost();
      },
      answerBegan: (id: string, labels: AnswerLabels) => {
        this.#isAnswering = true;
        this.actions.answerBegan(id, labels);
        this.#record.latency.answerBegan();
      },
      action: (item: ActionItem) => this.#after.asked(item),
      said: (text: string, itemId: string) => this.#record.said(text, itemId),
      answerDone: (cause: TurnCause | undefined, labels: AnswerLabels) =>
        this.#answered(cause, labels),
      ended: (ending: Ending, heardOut: () => void) => this.#ended(ending, heardOut),
    };
  }

  get #mayInterrupt(): boolean {
    return !this.#announcement.isOpen && this.#manner.mayBeInterrupted;
  }

  #createAnnouncement(): Announcement {
    const { beginMessage, events } = this.#options;
    return new Announcement({
      clock: this.#clock,
      line: this.line,
      say: (text) => this.say(text),
      greet: () => this.#greet(),
      hasGreeting: beginMessage !== undefined,
      respond: () => this.respond(),
      heard: () => events.announced?.(),
      notHeard: () => events.notAnnounced?.(),
    });
  }

  #begin(request: AnswerRequest): boolean {
    return !this.actions.isMuted && this.#session.respond(request) === undefined;
  }

  #greet(): void {
    const { beginMessage } = this.#options;
    if (beginMessage !== undefined) this.say(beginMessage);
  }

  #isAtQuestion(): boolean {
    const { heard } = this.line;
    const { answerAfterEndMs: afterMs, answerBeforeEndMs: beforeMs } = PHONE_LIMITS.interruption;
    const spoken = heard && this.#session.spoken(heard.itemId);
    return spoken?.isAtQuestion(heard?.heardMs ?? 0, { afterMs, beforeMs }) === true;
  }

  #isAddressed(): boolean {
    if (this.#sound.isMusic) return false;
    if (!this.#announcement.isOpen) return this.#bargeIn.isAddressed;
    this.#announcement.asked();
    return false;
  }

  #answered(cause: TurnCause | undefined, labels: AnswerLabels): void {
    this.#isAnswering = false;
    const isDone = this.actions.answered(labels) || this.#announcement.answered(cause);
    if (!isDone) this.#after.answered(cause);
    // After an interruption the caller's next words or keys request the next answer.
    if (cause?.kind !== 'cancelled') this.#options.events.answered?.();
    queueMicrotask(() => this.tools.answered());
    queueMicrotask(() => this.commands.answered());
  }

  #pressed(digit: string): void {
    if (this.actions.isMuted) return;
    const isTaken = !this.#announcement.isOpen && !this.actions.isDroppingKeys;
    if (isTaken && this.#mayInterrupt) this.#bargeIn.interruptNow();
    this.#session.awaitCaller();
    this.#options.events.digit(digit);
    this.actions.press(digit);
  }

  #remember({ content, role }: CallTurn | SystemTurn): void {
    const id = newId(this.#random, 'item_');
    this.#session.conversation.add(writtenMessage(id, role, content));
  }

  /**
   * Ends the call after its session: the peer hears the rest of the sound, or an announcement for some endings. Billing and
   * settlement follow.
   */
  #ended(ending: Ending, heardOut: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#announcement.giveUp();
    this.#bargeIn.close();
    this.#sound.close();
    this.actions.close();
    this.#timers.close();
    const { events, format, input, spoke } = this.#options;
    const sound = { clock: this.#clock, log: this.#log, pipeline: input.pipeline, format, spoke };
    playOut({ call: this, ...sound }, ending.reason, () => {
      events.over(ending);
      heardOut();
    });
  }
}
