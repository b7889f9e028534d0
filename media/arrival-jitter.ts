/** A pause this long is a caller who sent nothing, and no network that was late. */
const PAUSE_MS = 1_000;
/** How much one arrival moves the smoothed figure; RFC 3550 has the same. */
const SHARE = 1 / 16;

const DUE_MS = 0;
const SMOOTH_MS = 1;
const MOST_MS = 2;

/**
 * How far the arrival of a live stream is from its audio time, in milliseconds: sound of 20 ms that comes 25 ms after
 * what was before it deviates by 5. Pauses count for nothing. Nothing is allocated per arrival.
 */
export class ArrivalJitter {
  /** One array (docs/decisions/0109). Nothing is due before sound has come. */
  readonly #state: [dueMs: number, smoothMs: number, mostMs: number] = [Number.NaN, 0, 0];

  /** Whether any sound has come. */
  get hasBegun(): boolean {
    return !Number.isNaN(this.#state[DUE_MS]);
  }

  /** Sound of `audioMs` came at `atMs`. */
  arrived(atMs: number, audioMs: number): void {
    const state = this.#state;
    const lateMs = this.hasBegun ? atMs - state[DUE_MS] : 0;
    state[DUE_MS] = atMs + audioMs;
    if (lateMs > PAUSE_MS) return;
    const offMs = Math.abs(lateMs);
    state[SMOOTH_MS] += (offMs - state[SMOOTH_MS]) * SHARE;
    if (offMs > state[MOST_MS]) state[MOST_MS] = offMs;
  }

  /** Smoothed over the last arrivals. */
  get smoothMs(): number {
    return this.#state[SMOOTH_MS];
  }

  get mostMs(): number {
    return this.#state[MOST_MS];
  }
}
