import { LIMITS } from '../../kernel/limits.ts';

export type EventRate = { readonly burst: number; readonly perSecond: number };

const OF_CLIENTS: EventRate = {
  burst: LIMITS.realtimeEventBurst,
  perSecond: LIMITS.realtimeEventsPerSecond,
};

/** Limits the events of a peer (default: of a client): a burst, then a steady rate. */
export class EventAllowance {
  readonly #rate: EventRate;
  /** Fractions in a private field of its own would be allocated anew with every write (docs/decisions/0109). */
  readonly #state: { left: number; atMs: number };

  /** Times come from the monotonic clock. */
  constructor(nowMs: number, rate: EventRate = OF_CLIENTS) {
    this.#rate = rate;
    this.#state = { left: rate.burst, atMs: nowMs };
  }

  /** When the last event came; at first, when this was made. */
  get lastAtMs(): number {
    return this.#state.atMs;
  }

  /** Returns false when the peer is over its allowance. */
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
