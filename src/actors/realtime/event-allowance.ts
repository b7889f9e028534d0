import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** How many events a client may send: a burst at once, then a steady rate. */
export class EventAllowance {
  readonly #clock: Clock;
  #left: number = LIMITS.realtimeEventBurst;
  #atMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#atMs = clock.monotonicMs();
  }

  /** False: the client is over its allowance. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const refill = ((nowMs - this.#atMs) / 1_000) * LIMITS.realtimeEventsPerSecond;
    this.#left = Math.min(LIMITS.realtimeEventBurst, this.#left + refill);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
