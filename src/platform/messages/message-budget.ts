import { MESSAGE_LIMITS } from './limits.ts';

export type MessageRates = {
  readonly bytes: { readonly burst: number; readonly perSecond: number };
  readonly busyMs: { readonly burst: number; readonly perSecond: number };
};

/**
 * Limits the messages of one socket, or of several that share it: their bytes, and the milliseconds in which this process
 * does nothing else. Each is a token bucket that may go into debt once. A short message counts `MESSAGE_LIMITS.leastBytes`, so that
 * the bytes bound the number, too.
 */
export class MessageBudget {
  readonly #rates: MessageRates;
  /** Remaining amount of each bucket and the time of its last refill, in one array (docs/decisions/0109). */
  readonly #left: [bytes: number, busyMs: number, atMs: number];

  /** Fills both buckets at `nowMs`. All times are of the monotonic clock. */
  constructor(nowMs: number, rates: MessageRates) {
    this.#rates = rates;
    this.#left = [rates.bytes.burst, rates.busyMs.burst, nowMs];
  }

  /** Counts the bytes of a message that arrives at `nowMs`. Returns false when they exceed the budget. */
  arrived(bytes: number, nowMs: number): boolean {
    this.#refill(nowMs);
    const left = this.#left;
    left[BYTES] -= Math.max(bytes, LEAST_BYTES);
    return left[BYTES] >= 0;
  }

  /** Counts the time in which a message was handled, from `sinceMs` to `nowMs`. Returns false when it exceeds the budget. */
  handled(sinceMs: number, nowMs: number): boolean {
    this.#refill(nowMs);
    const left = this.#left;
    left[BUSY_MS] -= nowMs - sinceMs;
    return left[BUSY_MS] >= 0;
  }

  /**
   * Counts the bytes of a message and the time of its handling, from `sinceMs` to `nowMs`. Returns false when either exceeds
   * the budget.
   */
  spend(bytes: number, sinceMs: number, nowMs: number): boolean {
    this.#refill(nowMs);
    const left = this.#left;
    left[BYTES] -= Math.max(bytes, LEAST_BYTES);
    left[BUSY_MS] -= nowMs - sinceMs;
    return left[BYTES] >= 0 && left[BUSY_MS] >= 0;
  }

  /** Milliseconds until no bucket is in debt; 0 when none is. */
  get debtMs(): number {
    const { bytes, busyMs } = this.#rates;
    const left = this.#left;
    const seconds = Math.max(-left[BYTES] / bytes.perSecond, -left[BUSY_MS] / busyMs.perSecond);
    return seconds > 0 ? seconds * 1_000 : 0;
  }

  #refill(nowMs: number): void {
    const { bytes, busyMs } = this.#rates;
    const left = this.#left;
    const seconds = (nowMs - left[AT_MS]) / 1_000;
    left[BYTES] = Math.min(bytes.burst, left[BYTES] + seconds * bytes.perSecond);
    left[BUSY_MS] = Math.min(busyMs.burst, left[BUSY_MS] + seconds * busyMs.perSecond);
    left[AT_MS] = nowMs;
  }
}

const BYTES = 0;
const BUSY_MS = 1;
const AT_MS = 2;

const LEAST_BYTES = MESSAGE_LIMITS.leastBytes;
