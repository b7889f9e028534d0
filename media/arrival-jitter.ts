/** A pause this long is a caller who sent nothing, and no network that was late. */
const PAUSE_MS = 1_000;
/** How much one arrival moves the smoothed figure; RFC 3550 has the same. */
const SHARE = 1 / 16;

/**
 * How far the arrival of a live stream is from its audio time, in milliseconds: sound of 20 ms that comes 25 ms after
 * what was before it deviates by 5. Pauses count for nothing. Nothing is allocated per arrival.
 */
export class ArrivalJitter {
  #dueMs: number | undefined;
  #smoothMs = 0;
  #mostMs = 0;

  /** Sound of `audioMs` came at `atMs`. */
  arrived(atMs: number, audioMs: number): void {
    const lateMs = this.#dueMs === undefined ? 0 : atMs - this.#dueMs;
    this.#dueMs = atMs + audioMs;
    if (lateMs > PAUSE_MS) return;
    const offMs = Math.abs(lateMs);
    this.#smoothMs += (offMs - this.#smoothMs) * SHARE;
    if (offMs > this.#mostMs) this.#mostMs = offMs;
  }

  /** Smoothed over the last arrivals. */
  get smoothMs(): number {
    return this.#smoothMs;
  }

  get mostMs(): number {
    return this.#mostMs;
  }
}
