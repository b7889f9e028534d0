import { LIMITS } from '../../../kernel/limits.ts';

/** How many events a client may send: a burst at once, then a steady rate. */
export class EventAllowance {
  /** Fractions in a private field of its own would be allocated anew with every write (docs/decisions/0076). */
  readonly #state: { left: number; atMs: number };

  /** Times are those of a clock that never goes back. */
  constructor(nowMs: number) {
    this.#state = { left: LIMITS.realtimeEventBurst, atMs: nowMs };
  }

  /** When an event came last; before any, when this was made. */
  get lastAtMs(): number {
    return this.#state.atMs;
  }

  /** False: the client is over its allowance. */
  take(nowMs: number): boolean {
    const state = this.#state;
    const refill = ((nowMs - state.atMs) / 1_000) * LIMITS.realtimeEventsPerSecond;
    const left = Math.min(LIMITS.realtimeEventBurst, state.left + refill);
    const isLeft = left >= 1;
    state.left = isLeft ? left - 1 : left;
    state.atMs = nowMs;
    return isLeft;
  }
}
