import { connect, type Socket } from 'node:net';

/** A TCP client that says exactly what it is told, for what well-behaved clients never send. */
export class RawSocket {
  readonly #socket: Socket;
  #received = '';
  #closed = false;
  readonly #waiting = new Set<() => void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    const wake = () => {
      for (const check of [...this.#waiting]) check();
    };
    socket.on('data', (text) => {
      this.#received += text;
      wake();
    });
    // A reset is an ending like any other here.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#closed = true;
      wake();
    });
  }

  static open(port: number): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawSocket(socket)));
    });
  }

  get received(): string {
    return this.#received;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** What was sent and still waits in this process for the other side to read. */
  get unsentBytes(): number {
    return this.#socket.writableLength;
  }

  send(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Says that no more comes, and still listens. */
  half(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Resolves when what was received satisfies `enough`, or fails with what there is. */
  until(enough: (received: string) => boolean, timeoutMs = 5_000): Promise<string> {
    return this.#wait(() => enough(this.#received), 'the awaited bytes', timeoutMs);
  }

  untilClosed(timeoutMs = 5_000): Promise<string> {
    return this.#wait(() => this.#closed, 'the close', timeoutMs);
  }

  #wait(done: () => boolean, what: string, timeoutMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        outcome();
      };
      const check = () => {
        if (done()) settle(() => resolve(this.#received));
      };
      const timer = setTimeout(
        () =>
          settle(() =>
            reject(new Error(`no ${what}; received: ${this.#received.slice(0, 2_000)}`)),
          ),
        timeoutMs,
      );
      this.#waiting.add(check);
      check();
    });
  }
}

/** A whole request in one text, with a Host header and whatever else is given. */
export const rawRequest = (line: string, headers: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', body].join('\r\n');

/** How many answers have begun to arrive. */
export const answersIn = (received: string): number => received.split('HTTP/1.1 ').length - 1;
