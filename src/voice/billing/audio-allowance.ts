import { LIMITS } from '../../kernel/limits.ts';

/** How far ahead of real time a client's audio may come. Silence earns nothing for later. */
export class AudioAllowance {
  /** Fractions in a private field of its own would be allocated anew with every write (docs/decisions/0076). */
  readonly #state: { aheadMs: number; atMs: number };

  /** Times are those of a clock that never goes back. */
  constructor(nowMs: number) {
    this.#state = { aheadMs: 0, atMs: nowMs };
  }

  /** When audio came last, also such as came too fast; before any, when this was made. */
  get lastAtMs(): number {
    return this.#state.atMs;
  }

  /** False: the audio came too fast. It counts for nothing then. */
  take(ms: number, nowMs: number): boolean {
    const state = this.#state;
    const aheadMs = Math.max(0, state.aheadMs - (nowMs - state.atMs));
    const isInTime = aheadMs + ms <= LIMITS.audioAheadSeconds * 1_000;
    state.aheadMs = isInTime ? aheadMs + ms : aheadMs;
    state.atMs = nowMs;
    return isInTime;
  }
}
