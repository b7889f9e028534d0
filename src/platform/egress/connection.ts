import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { soon } from '../../kernel/clock.ts';
import type { Carrier } from './exchange.ts';
import { EGRESS_LIMITS } from './limits.ts';

/** Thrown when the connection had ended before the request was handed to it. */
class ConnectionGone extends Error {
  override readonly name = 'ConnectionGone';
}

/**
 * HTTP over one socket and never over another: the client ends with its socket, so that no request can be sent again on a
 * second socket. No request starts before the previous request has ended.
 */
export class Connection implements Carrier {
  readonly #client: Client;
  #gone = false;
  #isHeld = false;
  #rested: Promise<void> = Promise.resolve();
  readonly #socket: Socket;
  readonly #onGone: () => void;

  constructor(
    socket: Socket,
    options: {
      readonly origin: string;
      readonly maxHeaderBytes: number;
      readonly onGone: () => void;
    },
  ) {
    this.#socket = socket;
    this.#onGone = options.onGone;
    let taken = false;
    this.#client = new Client(options.origin, {
      connect: (_options, done) => {
        const once = taken;
        taken = true;
        queueMicrotask(() =>
          once || socket.destroyed ? done(new ConnectionGone(), null) : done(null, socket),
        );
      },
      pipelining: 1,
      allowH2: false,
      // The exchange bounds all waiting, to the millisecond and by its own clock.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: EGRESS_LIMITS.connections.keepAliveMs,
      keepAliveMaxTimeout: EGRESS_LIMITS.connections.keepAliveMaxMs,
      maxHeaderSize: options.maxHeaderBytes,
    });
    // Unread bytes fill the buffer of the socket, and then the peer has to wait.
    const read = socket.read.bind(socket);
    socket.read = (size) => (this.#isHeld && size !== 0 ? null : read(size));
    socket.prependListener('error', (error: Error & { code?: string }) => {
      // The client takes `ECONNRESET` for the end of a body that ends with its connection, even with bytes unread.
      if (error.code === 'ECONNRESET') error.code = 'UND_RESET';
    });
    // After the client's own listeners, which reject a running request with the reason.
    socket.once('close', () => queueMicrotask(() => this.destroy()));
  }

  get isGone(): boolean {
    return this.#gone || this.#socket.destroyed;
  }

  /** Resolves when the socket was polled after the last exchange, since some servers close without notice after an answer. */
  get rested(): Promise<void> {
    return this.#rested;
  }

  rest(): void {
    // The first turn ends the round in which the answer came; the second comes after the next poll of all sockets.
    this.#rested = new Promise((resolve) => soon(() => soon(resolve)));
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  hold(): void {
    this.#isHeld = true;
  }

  proceed(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    // Not at once: the client may be in the middle of the bytes that it has read.
    queueMicrotask(() => this.#socket.emit('readable'));
  }

  destroy(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#socket.destroy(new ConnectionGone());
    this.#client.destroy(new ConnectionGone()).catch(() => {});
    this.#onGone();
  }
}
