import { LIMITS } from '../../kernel/limits.ts';

/** Limits how far ahead of real time a client's audio may arrive. Silence earns no credit. */
export class AudioAllowance {
  /** Fractions in a private field of its own would be allocated anew with every write (docs/decisions/0076). */
  readonly #state: { aheadMs: number; atMs: number };

  /** Times come from the monotonic clock. */
  constructor(nowMs: number) {
    this.#state = { aheadMs: 0, atMs: nowMs };
  }

  /** When audio last arrived, refused audio included; at first, when this was made. */
  get lastAtMs(): number {
    return this.#state.atMs;
  }

  /** Returns false for audio that is too far ahead. It then counts for nothing. */
  take(ms: number, nowMs: number): boolean {
    const state = this.#state;
    const aheadMs = Math.max(0, state.aheadMs - (nowMs - state.atMs));
    const isInTime = aheadMs + ms <= LIMITS.audioAheadSeconds * 1_000;
    state.aheadMs = isInTime ? aheadMs + ms : aheadMs;
    state.atMs = nowMs;
    return isInTime;
  }
}
