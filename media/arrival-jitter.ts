/** Milliseconds of lateness from which the caller is taken to have paused. A pause does not count as jitter. */
const PAUSE_MS = 1_000;
/** Share of the newest arrival in the smoothed figure, as in RFC 3550. */
const SHARE = 1 / 16;

const DUE_MS = 0;
const SMOOTH_MS = 1;
const MOST_MS = 2;

/**
 * Measures how far the arrival of a live stream deviates from its audio time, in milliseconds: 20 ms of sound that come
 * 25 ms after the sound before them deviate by 5. Pauses count for nothing. Nothing is allocated per arrival.
 */
export class ArrivalJitter {
  /** Milliseconds in one array, which V8 stores unboxed (docs/decisions/0109). `dueMs` is NaN until audio has arrived. */
  readonly #state: [dueMs: number, smoothMs: number, mostMs: number] = [Number.NaN, 0, 0];

  /** True once any sound has arrived. */
  get hasBegun(): boolean {
    return !Number.isNaN(this.#state[DUE_MS]);
  }

  /** Records that `audioMs` milliseconds of sound arrived at `atMs`. */
  arrived(atMs: number, audioMs: number): void {
    const state = this.#state;
    const lateMs = this.hasBegun ? atMs - state[DUE_MS] : 0;
    state[DUE_MS] = atMs + audioMs;
    if (lateMs > PAUSE_MS) return;
    const offMs = Math.abs(lateMs);
    state[SMOOTH_MS] += (offMs - state[SMOOTH_MS]) * SHARE;
    if (offMs > state[MOST_MS]) state[MOST_MS] = offMs;
  }

  /** Jitter in milliseconds, smoothed over the last arrivals. */
  get smoothMs(): number {
    return this.#state[SMOOTH_MS];
  }

  get mostMs(): number {
    return this.#state[MOST_MS];
  }
}
