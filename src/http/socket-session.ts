import type { WebSocket } from 'uWebSockets.js';
import { DRAINING } from '../kernel/draining.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Log } from '../kernel/log.ts';
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
  readonly id: string;
  readonly agentId: number;
  readonly keyId: number;
  readonly protocol: string | undefined;
  readonly #handler: SocketHandler;
  readonly #maxMessageBytes: number;
  readonly #seat: Seat;
  readonly #log: Log;
  #socket: WebSocket<SocketData> | undefined;
  #isOver = false;

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.agentId = options.agentId;
    this.keyId = options.keyId;
    this.protocol = options.protocol;
    this.#handler = options.handler;
    this.#maxMessageBytes = options.maxMessageBytes;
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
    const bytes = new Uint8Array(data);
    const handler = this.#handler;
    // As `#guard` does, without a closure for each frame.
    try {
      if (handler.frame !== undefined) this.#watch(handler.frame(bytes, isBinary));
      else this.#watch(handler.message(isBinary ? bytes : Buffer.from(data).toString('utf8')));
    } catch (err) {
      this.#failed(err);
    }
  }

  drained(): void {
    this.#guard(() => this.#handler.drained?.());
  }

  /** The socket is gone, or never came to stand. */
  closed(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket = undefined;
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
