import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** What a bucket holds, and what flows back into it in a second. */
type Flow = { readonly burst: number; readonly perSecond: number };

/**
 * What the messages of one socket may bring and cost: bytes, and milliseconds in which this process does nothing else.
 * A count of events bounds neither. Each is a token bucket that may go into debt once.
 */
export class MessageBudget {
  readonly #clock: Clock;
  readonly #bytes: Bucket;
  readonly #busyMs: Bucket;

  constructor(clock: Clock) {
    const nowMs = clock.monotonicMs();
    this.#clock = clock;
    this.#bytes = new Bucket(LIMITS.socketBytes, nowMs);
    this.#busyMs = new Bucket(LIMITS.socketBusyMs, nowMs);
  }

  /** Counts a message that has come. Answers why the socket must close, in words for its client, or undefined. */
  arrived(bytes: number): string | undefined {
    return this.#bytes.take(bytes, this.#clock.monotonicMs()) ? undefined : TOO_MANY_BYTES;
  }

  /** Counts the time since a message came, which its handling took. Answers as `arrived` does. */
  handled(sinceMs: number): string | undefined {
    const nowMs = this.#clock.monotonicMs();
    return this.#busyMs.take(nowMs - sinceMs, nowMs) ? undefined : TOO_MUCH_WORK;
  }
}

const { socketBytes, socketBusyMs } = LIMITS;
const MIB = 1024 * 1024;
const TOO_MANY_BYTES = `more than ${socketBytes.burst / MIB} MiB at once and ${socketBytes.perSecond / MIB} MiB a second`;
const TOO_MUCH_WORK = `messages take the server more than ${socketBusyMs.perSecond} ms a second to handle`;

class Bucket {
  readonly #flow: Flow;
  #left: number;
  #atMs: number;

  constructor(flow: Flow, nowMs: number) {
    this.#flow = flow;
    this.#left = flow.burst;
    this.#atMs = nowMs;
  }

  /** False: it is in debt, now. */
  take(amount: number, nowMs: number): boolean {
    const { burst, perSecond } = this.#flow;
    const flowed = ((nowMs - this.#atMs) * perSecond) / 1_000;
    this.#left = Math.min(burst, this.#left + flowed) - amount;
    this.#atMs = nowMs;
    return this.#left >= 0;
  }
}
