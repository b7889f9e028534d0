import type { Ending } from '../../../machines/transcription-stream.ts';
import type { TurnCause } from '../../../machines/voice-turn.ts';
import { bytesPerMs, silenceOf } from '../../../media/coding.ts';
import { InOrder } from '../../../media/line/in-order.ts';
import { Loudness } from '../../../media/line/loudness.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import { scriptedAnswer } from '../../voice/session/scripted-llm.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import { VoiceSession, type VoiceSessionDeps } from '../../voice/session/voice-session.ts';
import type { Heard } from '../../voice/stt/transcriber-events.ts';
import type { MediaCodec, MediaEvent } from '../carriers/carrier.ts';
import { Announcement } from '../recordings/announcement.ts';
import { type LineFigures, lineFigures } from '../records/line-figures.ts';
import type { CallTurn } from '../records/said-turn.ts';
import { timedPipeline } from '../records/timed-pipeline.ts';
import { TurnRecord } from '../records/turn-record.ts';
import { BargeIn } from '../voice/barge-in.ts';
import { type ActionItem, type AnswerLabels, CallClient } from '../voice/call-client.ts';
import { CallLine, type LineConnection } from '../voice/call-line.ts';
import { LiveActions } from './actions/live-actions.ts';
import { AfterAnswer } from './after-answer.ts';
import { playOut } from './last-words.ts';
import type { LiveCallOptions } from './live-call-options.ts';
import { NamedTimers } from './named-timers.ts';

/** How often the line is billed and the next turn is held anew. */
const BILLING_MS = 5_000;
/** How long a stopping process takes to write down what a call has bought. */
const HAND_OVER_MS = 200;

/**
 * A call whose media stream is at this process: a voice session behind a telephone line. It lives on while its stream is
 * gone, for `lineLostMs`, and ends exactly once.
 */
export class LiveCall {
  readonly line: CallLine;
  readonly actions: LiveActions;
  readonly #client: CallClient;
  readonly #session: VoiceSession;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Log;
  readonly #options: LiveCallOptions;
  readonly #sound: InOrder;
  readonly #bytesPerMs: number;
  readonly #loudness: Loudness;
  readonly #bargeIn: BargeIn;
  readonly #record: TurnRecord;
  readonly #announcement: Announcement;
  readonly #after: AfterAnswer;
  readonly #timers: NamedTimers;
  /** When the last sound came; in an object, see docs/decisions/0076. */
  readonly #arrived = { atMs: 0 };
  #isAnswering = false;
  #isOver = false;

  constructor(
    deps: VoiceSessionDeps & { readonly clock: Clock; readonly random: Random; readonly log: Log },
    options: LiveCallOptions,
  ) {
    const { clock, random } = deps;
    const { codec, format, input } = options;
    this.#clock = clock;
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
    this.#bytesPerMs = bytesPerMs(format);
    this.#loudness = new Loudness(format);
    this.#sound = new InOrder({
      bytesPerMs: this.#bytesPerMs,
      silence: silenceOf(format),
      take: (bytes) => this.#hear(bytes),
    });
    this.#bargeIn = new BargeIn({
      clock,
      line: this.line,
      isAnswering: () => this.#isAnswering,
      interrupt: () => this.#interrupt(),
    });
    const { events } = options;
    this.actions = new LiveActions({
      ...{ ...deps, format, session: this.#session, line: this.line, bargeIn: this.#bargeIn },
      pipeline: input.pipeline,
      entered: (digits) => events.entered?.(digits),
      call: this,
    });
    this.#after = new AfterAnswer({
      log: deps.log,
      act: (action) => events.act(action),
      say: (text) => this.say(text),
      end: (reason) => this.end(reason),
      afterSpoken: (done) =>
        this.actions.sounds.afterSent(() => this.line.afterPlayed(done, LIMITS.phone.lastWordsMs)),
    });
    this.#timers = new NamedTimers(clock);
    this.#timers.repeat('billing', BILLING_MS, () => this.#session.billNow());
    this.#timers.after('longest', options.longestMs, () => this.end('max_duration'));
    for (const turn of options.history) this.#remember(turn);
    this.#announcement = this.#createAnnouncement();
    if (options.notice === undefined) this.#greet();
    else this.#announcement.begin(options.notice);
  }

  /** Resolves when the call is settled. */
  get settled(): Promise<void> {
    return this.#session.settled;
  }

  /** How the sound of this process's line came and went. */
  get lineFigures(): LineFigures {
    return lineFigures(this.#session.jitter, this.#sound.counters, this.line.dry);
  }

  get config(): SessionConfig {
    return this.#session.config;
  }

  /** The carrier's stream stands, for the first time or again. */
  attach(connection: LineConnection, codec: MediaCodec = this.#options.codec): void {
    this.#timers.cancel('lost');
    this.#options.events.attached();
    this.line.attach(connection, codec);
  }

  /** One event of the carrier's stream. */
  media(event: MediaEvent): void {
    switch (event.kind) {
      case 'media':
        this.#arrived.atMs = this.#clock.monotonicMs();
        this.#sound.push(event.atMs, event.bytes);
        break;
      case 'mark':
        this.line.echoed(event.name);
        break;
      case 'digit':
        this.#pressed(event.digit);
        break;
      default:
    }
  }

  /** The stream is gone; it may come back within `lineLostMs`. */
  detached(): void {
    if (this.#isOver) return;
    this.#announcement.giveUp();
    this.line.detach();
    // The line is in use: the far side hears another one ring.
    if (this.actions.isTransferring) return;
    this.#options.events.detached();
    this.#timers.after('lost', this.#options.lineLostMs, () => this.hungUp());
  }

  /** Keeps something in the history that the brain has to know. */
  note(content: string): void {
    this.#remember({ role: 'user', content });
  }

  /** Says a text as it is. */
  say(text: string): void {
    if (this.actions.isMuted) return;
    this.#session.respond(scriptedAnswer(this.#session.config, text));
  }

  /** Lets the answer of a brain begin that was not asked. */
  respond(): void {
    if (this.actions.isMuted) return;
    const { config } = this.#session;
    this.#session.respond({ config, metadata: {}, isInConversation: true });
  }

  /** Ends the call. The far side hears what it is hearing to its end, unless `reason` is announced. */
  end(reason: string): void {
    this.#session.fail({ code: 1000, reason });
  }

  /** The far side is gone. */
  hungUp(): void {
    this.#session.clientGone();
  }

  /** The process stops: the stream is closed, and another process may go on with the call. */
  drain(): void {
    // Nothing is left to go on with, unless the transfer comes to nothing.
    if (this.actions.isTransferring) {
      this.actions.transferred();
      return;
    }
    this.#announcement.giveUp();
    this.#session.bargeIn();
    this.#session.billNow();
    // What was bought is in the journal by then, which the other process reads.
    this.#timers.after('hand over', HAND_OVER_MS, () => {
      this.line.close(1001, 'draining');
      this.#timers.after('lost', this.#options.lineLostMs, () => this.end('drain'));
    });
  }

  abandon(): void {
    this.#session.abandon();
  }

  #clientEvents() {
    return {
      speechStarted: () => {
        this.line.forgetAfterPlayed();
        if (!this.#announcement.isOpen) this.#bargeIn.speechStarted();
      },
      utteranceEnded: () => this.#record.latency.utteranceEnded(),
      interim: (text: string) => this.#bargeIn.interim(text),
      heard: (heard: Heard) => {
        this.#bargeIn.heard(heard.text);
        this.#record.heard(heard, !this.#announcement.isOpen && this.#bargeIn.isAddressed);
      },
      isAddressed: () => this.#isAddressed(),
      transcriberFailed: (err: Error) => this.#log.warn({ err }, 'a call lost an utterance'),
      answerBegan: (id: string, labels: AnswerLabels) => {
        this.#isAnswering = true;
        this.actions.answerBegan(id, labels);
        this.#record.latency.answerBegan();
      },
      action: (item: ActionItem) => this.#after.asked(item),
      said: (text: string, itemId: string) => this.#record.said(text, itemId),
      answerDone: (cause: TurnCause | undefined, labels: AnswerLabels) =>
        this.#answered(cause, labels),
      ended: (ending: Ending) => this.#ended(ending),
    };
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

  #greet(): void {
    const { beginMessage } = this.#options;
    if (beginMessage !== undefined) this.say(beginMessage);
  }

  #isAddressed(): boolean {
    if (!this.#announcement.isOpen) return this.#bargeIn.isAddressed;
    this.#announcement.asked();
    return false;
  }

  #interrupt(): void {
    this.actions.sounds.stop();
    this.#session.bargeIn();
    const lastHeard = this.#client.takeLastHeard();
    if (lastHeard !== undefined) this.#record.interrupted(lastHeard);
  }

  #hear(bytes: Uint8Array): void {
    if (this.actions.isMuted) return;
    if (this.#bargeIn.isMeasuring && this.#loudness.isLoud(bytes)) {
      this.#bargeIn.loud(bytes.length / this.#bytesPerMs);
    }
    const problem = this.#session.append(bytes, this.#arrived.atMs);
    if (problem !== undefined) this.#log.debug({ code: problem.code }, 'sound of a call dropped');
  }

  #answered(cause: TurnCause | undefined, labels: AnswerLabels): void {
    this.#isAnswering = false;
    if (this.actions.answered(labels) || this.#announcement.answered(cause)) return;
    this.#after.answered(cause);
  }

  #pressed(digit: string): void {
    if (this.actions.isMuted) return;
    if (!this.#announcement.isOpen) this.#bargeIn.interruptNow();
    this.#options.events.digit(digit);
    this.actions.press(digit);
  }

  #remember({ content: text, role }: CallTurn): void {
    this.#session.conversation.add({
      id: newId(this.#random, 'item_'),
      type: 'message',
      role,
      status: 'completed',
      content: [{ type: 'text', text }],
    });
  }

  /** The session is over. What the far side still hears is heard to its end; some endings are announced. */
  #ended(ending: Ending): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#announcement.giveUp();
    this.#bargeIn.close();
    this.actions.close();
    this.#timers.close();
    const over = () => this.#options.events.over(ending);
    const { format, input, spoke } = this.#options;
    playOut(
      {
        clock: this.#clock,
        log: this.#log,
        pipeline: input.pipeline,
        line: this.line,
        format,
        config: this.config,
        spoke,
      },
      ending.reason,
      over,
    );
  }
}
