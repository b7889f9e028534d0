import type { WebSocket } from 'uWebSockets.js';
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
 * One socket between the library and its handler. It owns the rule that a handler's throw closes the
 * socket and nothing else, and that a closed socket is never touched again.
 */
export class SocketSession {
  readonly #options: SessionOptions;
  #socket: WebSocket<SocketData> | undefined;
  #isOver = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  opened(socket: WebSocket<SocketData>): void {
    this.#socket = socket;
    const { handler, seat } = this.#options;
    this.#guard(() => handler.opened(this.#connection()));
    if (!this.#isOver) seat.occupy(this.#live());
  }

  message(data: ArrayBuffer, isBinary: boolean): void {
    const { handler, maxMessageBytes } = this.#options;
    if (this.#socket === undefined) return;
    if (data.byteLength > maxMessageBytes) {
      this.close(1009, `a message may have at most ${maxMessageBytes} bytes`);
      return;
    }
    const bytes = new Uint8Array(data);
    this.#guard(() => {
      if (handler.frame !== undefined) return handler.frame(bytes, isBinary);
      return handler.message(isBinary ? bytes : Buffer.from(data).toString('utf8'));
    });
  }

  drained(): void {
    this.#guard(() => this.#options.handler.drained?.());
  }

  /** The socket is gone, or never came to stand. */
  closed(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#socket = undefined;
    this.#options.seat.release();
    try {
      this.#options.handler.closed(code, reason);
    } catch (err) {
      this.#options.log.error({ err }, 'a socket handler failed in closed()');
    }
  }

  close(code: number, reason: string): void {
    this.#socket?.end(code, cutReason(reason));
  }

  #live(): LiveSocket {
    const { handler } = this.#options;
    return {
      close: (code, reason) => this.close(code, reason),
      drain: () => {
        if (handler.draining === undefined) this.close(1001, 'server is shutting down');
        else this.#guard(() => handler.draining?.());
      },
    };
  }

  #send(data: string | Uint8Array, { droppable = false, asText = false }: SendOptions): boolean {
    const result = this.#socket?.send(data, typeof data !== 'string' && !asText);
    if (result === undefined) return false;
    if (result !== DROPPED) return true;
    if (!droppable) this.close(1013, 'the client reads too slowly');
    return false;
  }

  /** A throw, or a rejection of a handler that was async after all, is a bug: this socket ends 1011. */
  #guard(work: () => unknown): void {
    const fail = (err: unknown) => {
      this.#options.log.error({ err }, 'a socket handler failed');
      this.close(1011, 'internal error');
    };
    try {
      const result = work();
      if (result instanceof Promise) result.catch(fail);
    } catch (err) {
      fail(err);
    }
  }

  #connection(): SocketConnection {
    const session = this;
    const { id, agentId, keyId, protocol } = this.#options;
    return {
      id,
      agentId,
      keyId,
      protocol,
      get isOpen() {
        return session.#socket !== undefined;
      },
      get bufferedAmount() {
        return session.#socket?.getBufferedAmount() ?? 0;
      },
      send: (data, options = {}) => session.#send(data, options),
      batch(work) {
        if (session.#socket === undefined) work();
        else session.#socket.cork(work);
      },
      close: (code, reason = '') => session.close(code, reason),
    };
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
