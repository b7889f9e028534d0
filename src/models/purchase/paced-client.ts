import type { Clock } from '../../kernel/clock.ts';

/** A WebSocket client, as far as it is sent to. */
export type PacedSocket = {
  /** Bytes that the client has not taken yet. */
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): boolean;
};

type Pace = {
  /** The sender waits while the client is further behind. */
  readonly unsentBytes: number;
  /** The longest time in which a client may take nothing. */
  readonly stallMs: number;
};

/** Sends to a client no faster than it reads. For one sender at a time. */
export class PacedClient {
  readonly #clock: Clock;
  readonly #pace: Pace;
  #caughtUp = () => {};

  constructor(clock: Clock, pace: Pace) {
    this.#clock = clock;
    this.#pace = pace;
  }

  /** The client has taken what was sent. */
  drained(): void {
    this.#caughtUp();
  }

  /** Resolves when the next piece may be sent, or `signal` fires: true. False: the client takes nothing for too long. */
  async send(
    socket: PacedSocket,
    data: string | Uint8Array,
    signal: AbortSignal,
  ): Promise<boolean> {
    socket.send(data);
    return (
      socket.bufferedAmount <= this.#pace.unsentBytes || (await this.#untilTaken(socket, signal))
    );
  }

  #untilTaken(socket: PacedSocket, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(true);
    return new Promise((resolve) => {
      const over = (isTaken: boolean) => {
        this.#clock.clearTimeout(stall);
        signal.removeEventListener('abort', taken);
        this.#caughtUp = () => {};
        resolve(isTaken);
      };
      const taken = () => over(true);
      const { stallMs, unsentBytes } = this.#pace;
      // A process that was suspended meanwhile finds its timer due before it hears of its client.
      const stall = this.#clock.setTimeout(
        () => over(socket.bufferedAmount <= unsentBytes),
        stallMs,
      );
      // A client that has taken a part of it is still behind.
      this.#caughtUp = () => {
        if (socket.bufferedAmount <= unsentBytes) over(true);
      };
      signal.addEventListener('abort', taken, { once: true });
    });
  }
}
