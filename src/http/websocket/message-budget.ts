import { LIMITS } from '../../kernel/limits.ts';

/** What a bucket holds, and what flows back into it in a second. */
type Flow = { readonly burst: number; readonly perSecond: number };

/**
 * What the messages of one socket may bring and cost: bytes, and milliseconds in which this process does nothing else.
 * A count of events bounds neither. Each is a token bucket that may go into debt once.
 */
export class MessageBudget {
  readonly #bytes: Bucket;
  readonly #busyMs: Bucket;

  /** All times are of the monotonic clock. */
  constructor(nowMs: number) {
    this.#bytes = new Bucket(LIMITS.socketBytes, nowMs);
    this.#busyMs = new Bucket(LIMITS.socketBusyMs, nowMs);
  }

  /** Counts a message that comes now. Answers why the socket must close, in words for its client, or undefined. */
  arrived(bytes: number, nowMs: number): string | undefined {
    return this.#bytes.take(bytes, nowMs) ? undefined : TOO_MANY_BYTES;
  }

  /** Counts the time that the handling of a message took, which ends now. Answers as `arrived` does. */
  handled(sinceMs: number, nowMs: number): string | undefined {
    return this.#busyMs.take(nowMs - sinceMs, nowMs) ? undefined : TOO_MUCH_WORK;
  }
}

const { socketBytes, socketBusyMs } = LIMITS;
const MIB = 1024 * 1024;
const TOO_MANY_BYTES = `more than ${socketBytes.burst / MIB} MiB at once and ${socketBytes.perSecond / MIB} MiB a second`;
const TOO_MUCH_WORK = `messages take the server more than ${socketBusyMs.perSecond} ms a second to handle`;

class Bucket {
  readonly #flow: Flow;
  /** Fractions in a private field of its own would be allocated anew with every write (docs/decisions/0076). */
  readonly #state: { left: number; atMs: number };

  constructor(flow: Flow, nowMs: number) {
    this.#flow = flow;
    this.#state = { left: flow.burst, atMs: nowMs };
  }

  /** False: it is in debt, now. */
  take(amount: number, nowMs: number): boolean {
    const { burst, perSecond } = this.#flow;
    const state = this.#state;
    const flowed = ((nowMs - state.atMs) * perSecond) / 1_000;
    state.left = Math.min(burst, state.left + flowed) - amount;
    state.atMs = nowMs;
    return state.left >= 0;
  }
}
