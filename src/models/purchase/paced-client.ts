import type { Clock, TimerHandle } from '../../kernel/clock.ts';

/** The sending side of a WebSocket client. */
export type PacedSocket = {
  /** Bytes that were sent and that the client has not read yet. */
  readonly bufferedAmount: number;
  send(data: string | Uint8Array): boolean;
};

type Pace = {
  /** Bytes that may be unread before the sender waits. */
  readonly unsentBytes: number;
  /** Milliseconds for which a client may read nothing. */
  readonly stallMs: number;
};

/** Time limit for one piece, in stalls: a client that reads slowly without a stall gets 10 times `stallMs`. */
const STALLS_PER_PIECE = 10;

/** Sends to a client no faster than the client reads. Has one sender at a time. */
export class PacedClient {
  readonly #clock: Clock;
  readonly #pace: Pace;
  #caughtUp = () => {};

  constructor(clock: Clock, pace: Pace) {
    this.#clock = clock;
    this.#pace = pace;
  }

  /** Notes that the client has read the sent data. */
  drained(): void {
    this.#caughtUp();
  }

  /**
   * Sends a piece. Resolves to true when the next piece may be sent, or `signal` fires; to false when the client reads nothing
   * for `stallMs`, or is still behind after 10 times `stallMs`.
   */
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
      const { stallMs, unsentBytes } = this.#pace;
      const untilMs = this.#clock.monotonicMs() + STALLS_PER_PIECE * stallMs;
      let unsent = socket.bufferedAmount;
      let stall: TimerHandle;
      const over = (isTaken: boolean) => {
        this.#clock.clearTimeout(stall);
        signal.removeEventListener('abort', taken);
        this.#caughtUp = () => {};
        resolve(isTaken);
      };
      const taken = () => over(true);
      const wait = () => {
        const leftMs = untilMs - this.#clock.monotonicMs();
        stall = this.#clock.setTimeout(look, Math.min(stallMs, leftMs));
      };
      /** Returns true when the client has caught up, or took a part of the backlog and so gets another stall's time. */
      const hasProgressed = (): boolean => {
        const before = unsent;
        unsent = socket.bufferedAmount;
        if (unsent <= unsentBytes) over(true);
        else if (unsent >= before || this.#clock.monotonicMs() >= untilMs) return false;
        else {
          this.#clock.clearTimeout(stall);
          wait();
        }
        return true;
      };
      // After a suspension of the process, the timer fires before the socket reports progress, so progress is checked first.
      const look = () => {
        if (!hasProgressed()) over(false);
      };
      this.#caughtUp = () => void hasProgressed();
      wait();
      signal.addEventListener('abort', taken, { once: true });
    });
  }
}
