import { LIMITS } from '../../kernel/limits.ts';

/**
 * What the messages of one socket may bring and cost: bytes, and milliseconds in which this process does nothing else.
 * A count of events bounds neither. Each is a token bucket that may go into debt once.
 */
export class MessageBudget {
  /** What is left in each bucket, and when: one array (docs/decisions/0109). */
  readonly #left: [bytes: number, busyMs: number, atMs: number];

  /** All times are of the monotonic clock. */
  constructor(nowMs: number) {
    this.#left = [socketBytes.burst, socketBusyMs.burst, nowMs];
  }

  /** Counts a message that comes now. Answers why the socket must close, in words for its client, or undefined. */
  arrived(bytes: number, nowMs: number): string | undefined {
    this.#refill(nowMs);
    const left = this.#left;
    left[BYTES] -= bytes;
    return left[BYTES] < 0 ? TOO_MANY_BYTES : undefined;
  }

  /** Counts the time that the handling of a message took, which ends now. Answers as `arrived` does. */
  handled(sinceMs: number, nowMs: number): string | undefined {
    this.#refill(nowMs);
    const left = this.#left;
    left[BUSY_MS] -= nowMs - sinceMs;
    return left[BUSY_MS] < 0 ? TOO_MUCH_WORK : undefined;
  }

  #refill(nowMs: number): void {
    const left = this.#left;
    const seconds = (nowMs - left[AT_MS]) / 1_000;
    left[BYTES] = Math.min(socketBytes.burst, left[BYTES] + seconds * socketBytes.perSecond);
    left[BUSY_MS] = Math.min(socketBusyMs.burst, left[BUSY_MS] + seconds * socketBusyMs.perSecond);
    left[AT_MS] = nowMs;
  }
}

const BYTES = 0;
const BUSY_MS = 1;
const AT_MS = 2;

const { socketBytes, socketBusyMs } = LIMITS;
const MIB = 1024 * 1024;
const TOO_MANY_BYTES = `more than ${socketBytes.burst / MIB} MiB at once and ${socketBytes.perSecond / MIB} MiB a second`;
const TOO_MUCH_WORK = `messages take the server more than ${socketBusyMs.perSecond} ms a second to handle`;
