import type { Clock } from '../../kernel/clock.ts';
import type { VoiceSession } from '../session/voice-session.ts';
import type { ClientSocket } from './openai-realtime/event-sender.ts';

type SocketSessionParts = {
  readonly clock: Clock;
  readonly session: VoiceSession;
  readonly sender: { attach(socket: ClientSocket): void; drained(): void };
  readonly commands: { handle(bytes: Uint8Array, nowMs: number): void };
  /** Sends the first events of the protocol. */
  readonly attached: () => void;
};

/** A voice session in one of the live protocols, as its socket drives it. */
export class SocketSession {
  readonly #parts: SocketSessionParts;

  constructor(parts: SocketSessionParts) {
    this.#parts = parts;
  }

  /** Resolves when the session is settled. */
  get settled(): Promise<void> {
    return this.#parts.session.settled;
  }

  attach(socket: ClientSocket): void {
    const { attached, sender } = this.#parts;
    sender.attach(socket);
    attached();
  }

  /** Takes one event as bytes, since the protocols are text only. The caller may reuse them after this returns. */
  frame(bytes: Uint8Array): void {
    const { clock, commands, session } = this.#parts;
    if (!session.isOver) commands.handle(bytes, clock.monotonicMs());
  }

  /** The client's send buffer has room again. */
  drained(): void {
    this.#parts.sender.drained();
  }

  drain(): void {
    this.#parts.session.drain();
  }

  socketClosed(): void {
    this.#parts.session.clientGone();
  }

  /** Ends now, without waiting for payments in progress. */
  abandon(): void {
    this.#parts.session.abandon();
  }
}
