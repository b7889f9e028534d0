import type { WebSocket } from 'uWebSockets.js';
import type { Clock } from '../../kernel/clock.ts';
import { DRAINING } from '../../kernel/draining.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Log } from '../../kernel/log.ts';
import { MessageBudget } from './message-budget.ts';
import type { MessageLine } from './message-line.ts';
import type { LiveSocket, Seat } from './socket-registry.ts';
import type { SocketConnection, SocketHandler } from './socket-route.ts';

/** What `send` of the library answers when the client's backlog was full and the frame is lost. */
const DROPPED = 2;

export type SessionOptions = {
  readonly id: string;
  readonly agentId: number;
  readonly keyId: number;
  readonly protocol: string | undefined;
  readonly handler: SocketHandler;
  readonly seat: Seat;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  readonly line: MessageLine;
  readonly log: Log;
};

type SendOptions = { readonly droppable?: boolean; readonly asText?: boolean };

/** The library's user data: one object that stays with the socket. */
export type SocketData = { readonly session: SocketSession };

/**
 * One socket between the library and its handler, to which it is its connection. It owns the rule that a handler's
 * throw closes the socket and nothing else, and that a closed socket is never touched again.
 */
export class SocketSession implements SocketConnection {
  // What every message needs stands first (docs/decisions/0109).
  #socket: WebSocket<SocketData> | undefined;
  readonly #maxMessageBytes: number;
  readonly #clock: Clock;
  readonly #budget: MessageBudget;
  /** Messages that wait for a later turn. */
  #waiting = 0;
  readonly #line: MessageLine;
  readonly #handler: SocketHandler;
  #waitingBytes = 0;
  /** Closed by this side: nothing more that the client has sent is of interest. */
  #isEnded = false;
  #isOver = false;
  readonly id: string;
  readonly agentId: number;
  readonly keyId: number;
  readonly protocol: string | undefined;
  readonly #seat: Seat;
  readonly #log: Log;

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.agentId = options.agentId;
    this.keyId = options.keyId;
    this.protocol = options.protocol;
    this.#handler = options.handler;
    this.#maxMessageBytes = options.maxMessageBytes;
    this.#clock = options.clock;
    this.#budget = new MessageBudget(options.clock.monotonicMs());
    this.#line = options.line;
    this.#seat = options.seat;
    this.#log = options.log;
  }

  get isOpen(): boolean {
    return this.#socket !== undefined;
  }

  get bufferedAmount(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  opened(socket: WebSocket<SocketData>): void {
    this.#socket = socket;
    this.#guard(() => this.#handler.opened(this));
    if (!this.#isOver) this.#seat.occupy(this.#live());
  }

  message(data: ArrayBuffer, isBinary: boolean): void {
    if (this.#socket === undefined) return;
    if (data.byteLength > this.#maxMessageBytes) {
      this.close(1009, `a message may have at most ${this.#maxMessageBytes} bytes`);
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    const excess = this.#budget.arrived(data.byteLength, nowMs);
    if (excess !== undefined) {
      this.close(1008, excess);
      return;
    }
    if (this.#waiting === 0 && this.#line.hasTime(nowMs))
      this.#take(new Uint8Array(data), isBinary, nowMs);
    else this.#wait(data, isBinary);
  }

  #wait(data: ArrayBuffer, isBinary: boolean): void {
    this.#waitingBytes += data.byteLength;
    if (this.#waitingBytes > LIMITS.socketWaitingBytes) {
      this.close(1008, 'messages come faster than they are handled');
      return;
    }
    this.#waiting++;
    const bytes = this.#line.keep(data);
    this.#line.later(() => {
      this.#waiting--;
      this.#waitingBytes -= bytes.byteLength;
      if (this.#isEnded || this.#isOver) return;
      this.#take(bytes, isBinary, this.#clock.monotonicMs());
    });
  }

  #take(bytes: Uint8Array, isBinary: boolean, startedMs: number): void {
    this.#handle(bytes, isBinary);
    const nowMs = this.#clock.monotonicMs();
    this.#line.used(startedMs, nowMs);
    const overwork = this.#budget.handled(startedMs, nowMs);
    if (overwork !== undefined) this.close(1008, overwork);
  }

  #handle(bytes: Uint8Array, isBinary: boolean): void {
    const handler = this.#handler;
    // As `#guard` does, without a closure for each frame.
    try {
      if (handler.frame !== undefined) this.#watch(handler.frame(bytes, isBinary));
      else this.#watch(handler.message(isBinary ? bytes : Buffer.from(bytes).toString('utf8')));
    } catch (err) {
      this.#failed(err);
    }
  }

  drained(): void {
    this.#guard(() => this.#handler.drained?.());
  }

  /** The socket is gone, or never came to stand. */
  closed(code: number, reason: string): void {
    this.#socket = undefined;
    if (this.#isOver) return;
    // What a client has sent before it left is heard before its leaving is.
    if (this.#waiting > 0 && !this.#isEnded) {
      this.#line.later(() => this.closed(code, reason));
      return;
    }
    this.#isOver = true;
    this.#seat.release();
    try {
      this.#handler.closed(code, reason);
    } catch (err) {
      this.#log.error({ err }, 'a socket handler failed in closed()');
    }
  }

  send(
    data: string | Uint8Array,
    { droppable = false, asText = false }: SendOptions = {},
  ): boolean {
    const result = this.#socket?.send(data, typeof data !== 'string' && !asText);
    if (result === undefined) return false;
    if (result !== DROPPED) return true;
    if (!droppable) this.close(1013, 'the client reads too slowly');
    return false;
  }

  batch(work: () => void): void {
    if (this.#socket === undefined) work();
    else this.#socket.cork(work);
  }

  close(code: number, reason = ''): void {
    this.#isEnded = true;
    this.#socket?.end(code, cutReason(reason));
  }

  #live(): LiveSocket {
    const handler = this.#handler;
    return {
      close: (code, reason) => this.close(code, reason),
      drain: () => {
        if (handler.draining === undefined) this.close(DRAINING.code, DRAINING.reason);
        else this.#guard(() => handler.draining?.());
      },
    };
  }

  /** A throw, or a rejection of a handler that was async after all, is a bug: this socket ends 1011. */
  #guard(work: () => unknown): void {
    try {
      this.#watch(work());
    } catch (err) {
      this.#failed(err);
    }
  }

  #watch(result: unknown): void {
    if (result instanceof Promise) result.catch((err: unknown) => this.#failed(err));
  }

  #failed(err: unknown): void {
    this.#log.error({ err }, 'a socket handler failed');
    this.close(1011, 'internal error');
  }
}

/** A close frame has room for 123 bytes of text, and must not end inside a character. */
export function cutReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= LIMITS.closeReasonBytes) return reason;
  let end: number = LIMITS.closeReasonBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString('utf8');
}
