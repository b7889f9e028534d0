import { VOICE_LIMITS } from '../limits.ts';

export type EventRate = { readonly burst: number; readonly perSecond: number };

const OF_CLIENTS: EventRate = {
  burst: VOICE_LIMITS.realtime.eventBurst,
  perSecond: VOICE_LIMITS.realtime.eventsPerSecond,
};

/** Limits the events of a peer (default: of a client): a burst, then a steady rate. */
export class EventAllowance {
  readonly #rate: EventRate;
  /** Two numbers in one object: V8 would allocate a fraction in a private field anew at every write (docs/decisions/0109). */
  readonly #state: { left: number; atMs: number };

  /** Starts with a full burst. `nowMs` is a time of the monotonic clock. */
  constructor(nowMs: number, rate: EventRate = OF_CLIENTS) {
    this.#rate = rate;
    this.#state = { left: rate.burst, atMs: nowMs };
  }

  /** Time of the last event; before any event, the time of construction. */
  get lastAtMs(): number {
    return this.#state.atMs;
  }

  /** Counts an event. Returns false when the peer exceeds its allowance. */
  take(nowMs: number): boolean {
    const state = this.#state;
    const refill = ((nowMs - state.atMs) / 1_000) * this.#rate.perSecond;
    const left = Math.min(this.#rate.burst, state.left + refill);
    const isLeft = left >= 1;
    state.left = isLeft ? left - 1 : left;
    state.atMs = nowMs;
    return isLeft;
  }
}
