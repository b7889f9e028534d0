import { type ActorRefFrom, createActor } from 'xstate';
import {
  type RealtimeEffects,
  type RealtimeSessionEvent,
  realtimeSessionMachine,
} from '../../../machines/realtime-session.ts';
import type { Ending } from '../../../machines/transcription-stream.ts';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { createTurnBilling } from '../billing/bill-turn.ts';
import type { SessionHoldOwner } from '../billing/session-hold.ts';
import type { SessionHolds } from '../billing/session-holds.ts';
import type { TurnCap, TurnRoom } from '../billing/turn-meter.ts';
import { ClientCommands } from '../protocols/openai-realtime/client-commands.ts';
import { type ClientSocket, EventSender } from '../protocols/openai-realtime/event-sender.ts';
import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import type { Heard } from '../stt/transcriber-events.ts';
import { type Answering, createAnswering } from './answering.ts';
import { Conversation } from './conversation.ts';
import { Listening } from './listening.ts';
import { SessionTally } from './session-tally.ts';
import { Settings } from './settings.ts';
import { TurnCycle } from './turn-cycle.ts';
import type { VoiceDeps } from './voice-deps.ts';
import { BROKEN } from './voice-endings.ts';
import { VoiceLife } from './voice-life.ts';
import type { VoicePipeline } from './voice-pipeline.ts';

/** What a session of this server's own needs of what live sessions are made of, beside its stages. */
export type RealtimeDeps = Pick<
  VoiceDeps,
  'speechGates' | 'sessions' | 'metrics' | 'clock' | 'random' | 'log'
> & {
  readonly engines: Pick<VoiceDeps['engines'], 'vad'>;
};

export type RealtimeInput = {
  readonly owner: SessionHoldOwner;
  readonly sessionHolds: SessionHolds;
  readonly cap: TurnCap;
  /** Tokens of an answer that are held for as it begins, where that is not all that the cap has. */
  readonly outputTokens?: number;
  readonly pipeline: VoicePipeline;
  /** How the session begins, where its handshake says. */
  readonly config?: SessionConfig;
};

/**
 * A live realtime session as its socket drives it. Its actor decides what happens when; it owns the
 * conversation, the engines in use and the reserve, and is settled exactly once, however it ends.
 */
export class RealtimeSession {
  readonly #deps: RealtimeDeps;
  readonly #life: VoiceLife;
  readonly #pipeline: VoicePipeline;
  readonly #tally: SessionTally;
  readonly #conversationId: string;
  readonly #sender: EventSender;
  readonly #settings: Settings;
  readonly #listening: Listening;
  readonly #answering: Answering;
  readonly #turns: TurnCycle;
  readonly #commands: ClientCommands;
  readonly #actor: ActorRefFrom<typeof realtimeSessionMachine>;
  readonly #clock: Clock;
  #giveUp = () => {};
  readonly #givenUp = new Promise<void>((resolve) => {
    this.#giveUp = resolve;
  });
  /** The actor has ended: known without a look at it, which a frame need not pay for. */
  #isOver = false;

  constructor(deps: RealtimeDeps, input: RealtimeInput) {
    const { clock, random } = deps;
    const { sessionId, model } = input.owner;
    const conversation = new Conversation();
    this.#conversationId = newId(random, 'conv_');
    this.#deps = deps;
    this.#clock = clock;
    this.#tally = new SessionTally({ ...deps, kind: 'realtime' });
    this.#life = new VoiceLife(deps, {
      ...input,
      sessionHold: input.sessionHolds,
      tally: this.#tally,
    });
    this.#sender = new EventSender(random);
    const { pipeline } = input;
    this.#pipeline = pipeline;
    this.#settings = new Settings(
      { id: sessionId, model },
      pipeline.transcriberModel,
      input.config,
    );
    this.#listening = this.#createListening(conversation, pipeline);
    const { cap, outputTokens = cap.outputTokens } = input;
    const room = { ...cap, outputTokens, mostOutputTokens: cap.outputTokens };
    this.#answering = this.#createAnswering(conversation, input, room);
    this.#turns = this.#createTurns(input, room);
    this.#commands = new ClientCommands({
      clock,
      random,
      conversation,
      pipeline,
      tally: this.#tally,
      sender: this.#sender,
      settings: this.#settings,
      listening: this.#listening,
      answering: this.#answering,
      respond: (request) => this.#turns.request(request),
      cancelWaiting: () => this.#turns.cancelWaiting(),
      fail: (ending) => this.#tell({ type: 'session.failed', ending }),
    });
    const effects = this.#effects();
    this.#actor = createActor(realtimeSessionMachine, { clock, input: { effects } });
    this.#actor.subscribe({
      complete: () => {
        this.#isOver = true;
      },
      error: (error) => {
        this.#isOver = true;
        this.#life.broke(error, [
          effects.stopTurn,
          () => effects.hangUp(BROKEN),
          () => effects.settle(BROKEN),
        ]);
      },
    });
    this.#actor.start();
  }

  /** Resolves when the session is settled. */
  get settled(): Promise<void> {
    return this.#life.settled;
  }

  attach(socket: ClientSocket): void {
    this.#sender.attach(socket);
    this.#sender.send('session.created', { session: this.#settings.render() });
    const conversation = { id: this.#conversationId, object: 'realtime.conversation' };
    this.#sender.send('conversation.created', { conversation });
  }

  /** The bytes of one event: the protocol is text only. They may be gone when this returns. */
  frame(bytes: Uint8Array): void {
    if (!this.#isOver) this.#commands.handle(bytes, this.#clock.monotonicMs());
  }

  /** The client has taken what was unsent. */
  drained(): void {
    this.#sender.drained();
  }

  drain(): void {
    this.#tell({ type: 'drain.requested' });
  }

  socketClosed(): void {
    this.#tell({ type: 'socket.closed' });
  }

  /** Ends now, and does not wait to hear what was paid for either. */
  abandon(): void {
    this.socketClosed();
    this.#giveUp();
  }

  #createListening(conversation: Conversation, pipeline: VoicePipeline): Listening {
    const { clock, engines, random, speechGates } = this.#deps;
    return new Listening({
      stt: () => pipeline.stt(this.#settings.current),
      vad: engines.vad,
      gates: speechGates,
      clock,
      random,
      conversation,
      tally: this.#tally,
      sender: this.#sender,
      config: () => this.#settings.current,
      speechStarted: () => {
        if (this.#settings.current.turnDetection?.interruptResponse) {
          this.#turns.bargeIn();
        }
      },
      forgotten: () => this.#turns.heard(false),
      heard: (heard, wantsAnswer) => this.#heard(heard, wantsAnswer),
      paused: (text) => this.#answering.speculate(text, this.#settings.current),
      resumed: () => pipeline.llm.forgetSpeculation?.(),
      timedOut: () => this.#promptCaller(),
    });
  }

  #createAnswering(
    conversation: Conversation,
    { pipeline }: RealtimeInput,
    cap: TurnRoom,
  ): Answering {
    const { clock, log, random } = this.#deps;
    return createAnswering({
      llm: pipeline.llm,
      voice: pipeline.voice,
      clock,
      random,
      log,
      conversation,
      cap,
      tally: this.#tally,
      sender: this.#sender,
      conversationId: this.#conversationId,
      transcribed: () => this.#listening.transcribed(),
      finished: (answer) => {
        if (answer.outcome.cause?.kind === 'cancelled') this.#tally.interrupted();
        this.#turns.finished(answer);
      },
    });
  }

  #createTurns({ pipeline, sessionHolds }: RealtimeInput, cap: TurnRoom): TurnCycle {
    return new TurnCycle({
      answering: this.#answering,
      listening: this.#listening,
      settings: this.#settings,
      life: this.#life,
      billing: createTurnBilling({
        cap,
        sessionHolds,
        pipeline,
        tally: this.#tally,
        clock: this.#clock,
        config: () => this.#settings.current,
      }),
      isEnding: () => !this.#isLive || !this.#mayAnswer,
      tell: (event) => this.#tell(event),
    });
  }

  #effects(): RealtimeEffects {
    const { clock } = this.#deps;
    const quietAtMs = () => this.#commands.lastEventAtMs + LIMITS.realtimeIdleSeconds * 1_000;
    return {
      // An actor is not created inside another one's action.
      startTurn: () => queueMicrotask(() => this.#turns.start()),
      stopTurn: () => this.#turns.stop(),
      bill: (isEnding) => this.#turns.bill(isEnding),
      hangUp: (ending) => this.#hangUp(ending),
      settle: (ending) => {
        this.#turns.billRest();
        // What is in the journal by then stays, whatever becomes of this process.
        Promise.race([this.#pipeline.paymentsKnown(), this.#givenUp])
          .then(() => this.#turns.billRest())
          .catch((error: unknown) =>
            this.#life.logError(error, 'the last payments were not billed'),
          )
          .finally(() => this.#life.settle(ending));
      },
      isHearing: () => this.#listening.isBusy,
      quietInMs: () => Math.max(0, quietAtMs() - clock.monotonicMs()),
    };
  }

  #heard({ text, latencyMs }: Heard, wantsAnswer: boolean): void {
    this.#tally.stage('final', latencyMs);
    if (text !== '') this.#tally.speechEnded(latencyMs);
    this.#turns.heard(wantsAnswer && text !== '');
  }

  #promptCaller(): void {
    const config = this.#settings.current;
    this.#turns.request({ config, metadata: {}, isInConversation: true, isPrompt: true });
  }

  /** The recogniser goes first: it is wanted back whatever the socket does. */
  #hangUp(ending: Ending): void {
    this.#pipeline.llm.forgetSpeculation?.();
    this.#listening.close();
    this.#sender.end(ending);
  }

  get #mayAnswer(): boolean {
    return this.#actor.getSnapshot().context.mayAnswer;
  }

  get #isLive(): boolean {
    return this.#actor.getSnapshot().status === 'active';
  }

  /** What is told to a session that is over means nothing any more. */
  #tell(event: RealtimeSessionEvent): void {
    if (this.#isLive) this.#actor.send(event);
  }
}
