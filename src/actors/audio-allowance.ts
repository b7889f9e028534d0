import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';

/** How far ahead of real time a client's audio may come. Silence earns nothing for later. */
export class AudioAllowance {
  readonly #clock: Clock;
  #aheadMs = 0;
  #atMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#atMs = clock.monotonicMs();
  }

  /** False: the audio came too fast. It counts for nothing then. */
  take(ms: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#aheadMs = Math.max(0, this.#aheadMs - (nowMs - this.#atMs));
    this.#atMs = nowMs;
    if (this.#aheadMs + ms > LIMITS.audioAheadSeconds * 1_000) return false;
    this.#aheadMs += ms;
    return true;
  }
}
