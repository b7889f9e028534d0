import type { Clock } from '../kernel/clock.ts';
import type { VoiceSession } from '../voice/session/voice-session.ts';
import type { ClientSocket } from './openai-realtime/event-sender.ts';

type SocketSessionParts = {
  readonly clock: Clock;
  readonly session: VoiceSession;
  readonly sender: { attach(socket: ClientSocket): void; drained(): void };
  readonly commands: { handle(bytes: Uint8Array, nowMs: number): void };
  /** Called once the client is attached, to send the first events of the protocol. */
  readonly attached: () => void;
};

/** A voice session in a live protocol, with the methods that its socket calls. */
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

  /**
   * Handles one event of the client, passed as bytes since the protocols have text frames only. The caller may reuse the bytes.
   */
  frame(bytes: Uint8Array): void {
    const { clock, commands, session } = this.#parts;
    if (!session.isOver) commands.handle(bytes, clock.monotonicMs());
  }

  /** Called when the client's send buffer has room again. */
  drained(): void {
    this.#parts.sender.drained();
  }

  drain(): void {
    this.#parts.session.drain();
  }

  socketClosed(): void {
    this.#parts.session.clientGone();
  }

  /** Ends the session now, without waiting for payments in progress. */
  abandon(): void {
    this.#parts.session.abandon();
  }
}
