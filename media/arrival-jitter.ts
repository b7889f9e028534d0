/** A pause this long is a caller who sent nothing, and no network that was late. */
const PAUSE_MS = 1_000;
/** How much one arrival moves the smoothed figure; RFC 3550 has the same. */
const SHARE = 1 / 16;

/**
 * How far the arrival of a live stream is from its audio time, in milliseconds: sound of 20 ms that comes 25 ms after
 * what was before it deviates by 5. Pauses count for nothing. Nothing is allocated per arrival.
 */
export class ArrivalJitter {
  /** In one object: fractions in private fields of their own are allocated anew with every write. */
  readonly #state = { hasBegun: false, dueMs: 0, smoothMs: 0, mostMs: 0 };

  /** Sound of `audioMs` came at `atMs`. */
  arrived(atMs: number, audioMs: number): void {
    const state = this.#state;
    const lateMs = state.hasBegun ? atMs - state.dueMs : 0;
    state.hasBegun = true;
    state.dueMs = atMs + audioMs;
    if (lateMs > PAUSE_MS) return;
    const offMs = Math.abs(lateMs);
    state.smoothMs += (offMs - state.smoothMs) * SHARE;
    if (offMs > state.mostMs) state.mostMs = offMs;
  }

  /** Smoothed over the last arrivals. */
  get smoothMs(): number {
    return this.#state.smoothMs;
  }

  get mostMs(): number {
    return this.#state.mostMs;
  }
}
