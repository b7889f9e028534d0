import type { Clock } from '../../../kernel/clock.ts';
import { EventAllowance } from '../../live/event-allowance.ts';
import {
  VoiceSession,
  type VoiceSessionDeps,
  type VoiceSessionInput,
} from '../../session/voice-session.ts';
import { ClientCommands } from './client-commands.ts';
import { type ClientSocket, EventSender } from './event-sender.ts';
import { RealtimeClient } from './realtime-client.ts';
import { renderSession } from './render-session.ts';

/** A voice session in the realtime protocol, as its socket drives it. */
export class RealtimeSession {
  readonly #session: VoiceSession;
  readonly #sender: EventSender;
  readonly #client: RealtimeClient;
  readonly #commands: ClientCommands;
  readonly #clock: Clock;
  readonly #render: () => Readonly<Record<string, unknown>>;

  constructor(deps: VoiceSessionDeps, input: VoiceSessionInput) {
    const { clock, random } = deps;
    const allowance = new EventAllowance(clock.monotonicMs());
    this.#clock = clock;
    this.#sender = new EventSender(random);
    this.#client = new RealtimeClient(random, this.#sender, allowance);
    const session = new VoiceSession(deps, input, this.#client);
    this.#session = session;
    const { sessionId: id, model } = input.owner;
    this.#render = () =>
      renderSession(session.config, { id, model, transcriber: session.transcriberModel });
    this.#commands = new ClientCommands({
      allowance,
      random,
      session,
      sender: this.#sender,
      pipeline: input.pipeline,
      render: this.#render,
    });
  }

  /** Resolves when the session is settled. */
  get settled(): Promise<void> {
    return this.#session.settled;
  }

  attach(socket: ClientSocket): void {
    this.#sender.attach(socket);
    this.#sender.send('session.created', { session: this.#render() });
    const conversation = { id: this.#client.conversationId, object: 'realtime.conversation' };
    this.#sender.send('conversation.created', { conversation });
  }

  /** Takes one event as bytes, since the protocol is text only. The caller may reuse them after this returns. */
  frame(bytes: Uint8Array): void {
    if (!this.#session.isOver) this.#commands.handle(bytes, this.#clock.monotonicMs());
  }

  /** The client's send buffer has room again. */
  drained(): void {
    this.#sender.drained();
  }

  drain(): void {
    this.#session.drain();
  }

  socketClosed(): void {
    this.#session.clientGone();
  }

  /** Ends now, without waiting for payments in progress. */
  abandon(): void {
    this.#session.abandon();
  }
}
