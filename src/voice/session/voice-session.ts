import type { Ending } from '../../../machines/transcription-stream.ts';
import {
  type VoiceSessionEffects,
  type VoiceSessionEvent,
  voiceSessionMachine,
} from '../../../machines/voice-session.ts';
import { createTurnBilling } from '../billing/bill-turn.ts';
import { roomIn, type TurnRoom } from '../billing/turn-meter.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { FlatActor } from '../live/flat-actor.ts';
import { SessionActor } from '../live/session-actor.ts';
import { SessionTally } from '../live/session-tally.ts';
import { TRANSCRIBER_LOST } from '../live/voice-endings.ts';
import { VoiceLife } from '../live/voice-life.ts';
import type { Heard } from '../stt/transcriber-events.ts';
import type { AnswerRequest, SessionProblem } from './answer-request.ts';
import { type Answering, createAnswering } from './answering.ts';
import { Conversation } from './conversation.ts';
import type { SpokenText } from './heard-words.ts';
import { Interruptions } from './interruptions.ts';
import { Listening } from './listening.ts';
import { DEFAULT_CONFIG, isHeardOtherwise, type SessionConfig } from './session-config.ts';
import { Settlement } from './settlement.ts';
import { TurnCycle } from './turn-cycle.ts';
import { TurnWait } from './turns/turn-wait.ts';
import type { Played, VoiceClient } from './voice-client.ts';
import type { VoicePipeline } from './voice-pipeline.ts';
import type { VoiceSessionDeps, VoiceSessionInput } from './voice-session-input.ts';

/**
 * A live voice conversation. The adapter of a protocol calls its methods and receives its events as a `VoiceClient`. It owns
 * the conversation, its engines and its reserve, and is settled exactly once; its actor orders events.
 */
export class VoiceSession {
  // Fields that every audio frame uses come first (docs/decisions/0109).
  readonly #listening: Listening;
  readonly conversation = new Conversation();
  readonly #deps: VoiceSessionDeps;
  readonly #client: VoiceClient;
  readonly #life: VoiceLife;
  readonly #pipeline: VoicePipeline;
  readonly #release: VoiceSessionInput['release'];
  readonly #tally: SessionTally;
  readonly #answering: Answering;
  readonly #turns: TurnCycle;
  readonly #turnWait: TurnWait;
  readonly #interruptions: Interruptions;
  readonly #settlement: Settlement;
  readonly #actor: SessionActor<
    VoiceSessionEvent,
    ReturnType<FlatActor<typeof voiceSessionMachine>['getSnapshot']>
  >;
  #config: SessionConfig;
  /** Utterances in a row that were not transcribed. */
  #lost = 0;

  constructor(deps: VoiceSessionDeps, input: VoiceSessionInput, client: VoiceClient) {
    const { clock } = deps;
    this.#deps = deps;
    this.#client = client;
    this.#config = input.config ?? DEFAULT_CONFIG;
    const kind = input.owner.kind === 'call' ? 'call' : 'realtime';
    this.#tally = new SessionTally({ ...deps, kind });
    this.#life = new VoiceLife(deps, {
      ...input,
      sessionHold: input.sessionHolds,
      tally: this.#tally,
    });
    const { cap, outputTokens = cap.outputTokens, pipeline } = input;
    this.#pipeline = pipeline;
    this.#turnWait = new TurnWait({
      clock,
      conversation: this.conversation,
      detection: () => this.#config.turnDetection,
      over: () => this.#turns.heard(false),
    });
    this.#release = input.release;
    this.#listening = this.#createListening();
    const room = roomIn(cap, outputTokens);
    this.#answering = this.#createAnswering(room);
    this.#turns = this.#createTurns(input, room);
    this.#interruptions = new Interruptions({
      answering: this.#answering,
      client,
      conversation: this.conversation,
      tally: this.#tally,
      trace: deps.trace,
      turns: this.#turns,
    });
    this.#settlement = new Settlement({
      clock,
      heardOut: client.heardOut,
      life: this.#life,
      pipeline,
      turns: this.#turns,
    });
    const effects = this.#effects();
    const actorInput = { effects, turnMs: client.turnMs };
    const actor = new FlatActor(voiceSessionMachine, { clock, input: actorInput });
    this.#actor = new SessionActor(actor, { effects, life: this.#life, stop: effects.stopTurn });
    this.#actor.start();
  }

  /** Resolves when the session is settled. */
  get settled(): Promise<void> {
    return this.#life.settled;
  }

  /** True when the session is over and ignores the client's events. */
  get isOver(): boolean {
    return this.#actor.isOver;
  }

  /** True when the session is over, or ends once the answer in progress has been stopped. */
  get isEnding(): boolean {
    return this.#actor.isOver || !this.#actor.snapshot.context.mayAnswer;
  }

  /** Jitter of the caller's audio: deviation of its arrival from its audio time. Undefined before the first audio. */
  get jitter(): SessionTally['jitter'] {
    return this.#tally.jitter;
  }

  get config(): SessionConfig {
    return this.#config;
  }

  /** Returns the model that transcribes the caller. */
  get transcriberModel(): string {
    return this.#pipeline.transcriberModel(this.#config);
  }

  /** Applies new settings. `VoicePipeline.problemOf` must accept them. */
  configure(config: SessionConfig): void {
    const before = this.#config;
    this.#config = config;
    const { transcriberModel } = this.#pipeline;
    if (isHeardOtherwise(before, config, transcriberModel)) this.#listening.restart();
  }

  /** Processes caller audio in the input format that arrived at `nowMs`; does not keep the array. */
  append(sound: Uint8Array, nowMs: number): SessionProblem | undefined {
    return this.#listening.append(sound, nowMs);
  }

  /** Ends the utterance in progress. */
  commit(): SessionProblem | undefined {
    return this.#listening.commit();
  }

  /** Drops the utterance in progress. */
  clearInput(): void {
    this.#listening.clear();
  }

  /** Queues an answer, which begins after the answers before it. */
  respond(request: AnswerRequest): SessionProblem | undefined {
    return this.#turns.request(request);
  }

  /** True while an answer of the conversation waits to begin. */
  get isAnswerWaiting(): boolean {
    return this.#turns.isWaiting;
  }

  /**
   * Begins to wait for the caller to speak, even when no answer came before. During an answer, the wait begins after that
   * answer.
   */
  awaitCaller(): void {
    if (!this.#answering.isConversing && !this.isAnswerWaiting) this.#listening.awaitCaller(0);
  }

  /** Cancels the answer to this request only, whether the answer waits or is in progress. */
  withdraw(request: AnswerRequest): void {
    this.#turns.withdraw(request);
  }

  /** Stops the answer `answerId` (default: the conversation's). Returns false when it is neither in progress nor waiting. */
  cancel(answerId?: string): boolean {
    return this.#interruptions.cancel(answerId);
  }

  /** Returns the spoken words of an answer; undefined when the answer can no longer be truncated. */
  spoken(itemId: string): SpokenText | undefined {
    return this.#answering.spoken(itemId);
  }

  /** Records that the caller interrupted an answer after `heardMs`. Only the words heard by then stay in the conversation. */
  heardUntil(itemId: string, heardMs: number): void {
    this.#interruptions.heardUntil(itemId, heardMs);
  }

  /** Handles an interruption that the client has detected. Returns what was played of each answer that this cuts. */
  bargeIn(): readonly Played[] {
    return this.#interruptions.bargeIn();
  }

  /**
   * Journals all charges up to now, including those of a turn in progress. Between turns, a new hold is made for the next turn.
   */
  billNow(): void {
    this.#actor.send({ type: 'bill.due' });
  }

  /** Ends the session because of an error of its client. */
  fail(ending: Ending): void {
    this.#actor.send({ type: 'session.failed', ending });
  }

  /** Finishes the turn in progress and then ends the session. */
  drain(): void {
    this.#actor.send({ type: 'drain.requested' });
  }

  /** Ends and settles the session after the client has disconnected. */
  clientGone(): void {
    this.#actor.send({ type: 'socket.closed' });
  }

  /** Ends the session now, without waiting for payments in progress. */
  abandon(): void {
    this.clientGone();
    this.#settlement.abandon();
  }

  #createListening(): Listening {
    const { clock, engines, random, speechGates } = this.#deps;
    const pipeline = this.#pipeline;
    return new Listening({
      stt: () => pipeline.stt(this.#config),
      vad: engines.vad,
      gates: speechGates,
      clock,
      random,
      conversation: this.conversation,
      tally: this.#tally,
      client: this.#client,
      config: () => this.#config,
      utteranceEnded: () => this.#deps.trace?.utteranceEnded(),
      silenceAfter: (words) => this.#turnWait.silenceAfter(words),
      continuesTurn: () => this.#turnWait.isOpen,
      speechStarted: () => {
        this.#turnWait.resumed();
        if (this.#config.turnDetection?.interruptResponse) this.#interruptions.bargeIn();
      },
      forgotten: () => {
        this.#listening.heardOut(false);
        this.#turns.heard(false);
      },
      heard: (heard, wantsAnswer) => this.#heard(heard, wantsAnswer),
      paused: (text) => this.#answering.speculate(text, this.#config),
      resumed: () => pipeline.llm.forgetSpeculation?.(),
      timedOut: () => this.#turns.promptCaller(),
    });
  }

  #createAnswering(cap: TurnRoom): Answering {
    const { clock, log, random, trace } = this.#deps;
    const { llm, voice } = this.#pipeline;
    return createAnswering({
      llm,
      voice,
      trace,
      clock,
      random,
      log,
      cap,
      conversation: this.conversation,
      tally: this.#tally,
      client: this.#client,
      transcribed: () => this.#listening.transcribed(),
      finished: (finished) => {
        if (finished.outcome.cause?.kind === 'cancelled') this.#tally.interrupted();
        this.#turns.finished(finished);
      },
    });
  }

  #createTurns({ pipeline, sessionHolds }: VoiceSessionInput, cap: TurnRoom): TurnCycle {
    const config = () => this.#config;
    return new TurnCycle({
      answering: this.#answering,
      listening: this.#listening,
      config,
      life: this.#life,
      billing: createTurnBilling({
        cap,
        config,
        pipeline,
        sessionHolds,
        tally: this.#tally,
        clock: this.#deps.clock,
      }),
      isEnding: () => this.isEnding,
      send: (event) => this.#actor.send(event),
    });
  }

  #effects(): VoiceSessionEffects {
    const quietAtMs = () => this.#client.lastEventAtMs + VOICE_LIMITS.realtime.idleSeconds * 1_000;
    return {
      // An actor must not be created inside another one's action.
      startTurn: () => queueMicrotask(() => this.#turns.start()),
      stopTurn: () => this.#turns.stop(),
      bill: (isEnding) => this.#turns.bill(isEnding),
      journal: () => this.#turns.journal(),
      hangUp: (ending) => this.#hangUp(ending),
      settle: (ending) => this.#settlement.settle(ending),
      isHearing: () => this.#listening.isBusy || this.#turnWait.isWaiting,
      quietInMs: () => Math.max(0, quietAtMs() - this.#deps.clock.monotonicMs()),
    };
  }

  #heard(
    { failed, isTurnOver = false, latencyMs, silentMs, text }: Heard,
    wantsAnswer: boolean,
  ): void {
    if (failed) this.#lost += 1;
    else if (text !== '') this.#lost = 0;
    this.#tally.stage('final', latencyMs);
    if (text !== '') this.#tally.speechEnded(latencyMs);
    const isAddressed = text !== '' && (this.#client.isAddressed?.(text) ?? true);
    this.#deps.trace?.heard(latencyMs, isAddressed);
    this.#listening.heardOut(isAddressed);
    const asks = wantsAnswer && isAddressed;
    const turn = { silentMs, isSpeaking: this.#listening.isBusy, isTurnOver };
    const isHeld = asks && this.#turnWait.heard(text, turn);
    if (isHeld) this.#turns.owe();
    else this.#turns.heard(asks);
    if (failed && this.#lost >= VOICE_LIMITS.lostUtterances) this.fail(TRANSCRIBER_LOST);
  }

  /** Frees the recogniser first, whatever the client does. */
  #hangUp(ending: Ending): void {
    this.#pipeline.llm.forgetSpeculation?.();
    this.#turnWait.resumed();
    this.#listening.close();
    this.#release?.();
    this.#client.end(ending);
  }
}
