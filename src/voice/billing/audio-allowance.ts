import { LIMITS } from '../../kernel/limits.ts';

const AHEAD_MS = 0;
const AT_MS = 1;

/** Limits how far ahead of real time a client's audio may arrive. Silence earns no credit. */
export class AudioAllowance {
  /** Two fractions in one array, which V8 stores unboxed (docs/decisions/0109). */
  readonly #state: [aheadMs: number, atMs: number];

  /** Times come from the monotonic clock. */
  constructor(nowMs: number) {
    this.#state = [0, nowMs];
  }

  /** When audio last arrived, refused audio included; at first, when this was made. */
  get lastAtMs(): number {
    return this.#state[AT_MS];
  }

  /** Returns false for audio that is too far ahead. It then counts for nothing. */
  take(ms: number, nowMs: number): boolean {
    const state = this.#state;
    const aheadMs = Math.max(0, state[AHEAD_MS] - (nowMs - state[AT_MS]));
    const isInTime = aheadMs + ms <= LIMITS.audioAheadSeconds * 1_000;
    state[AHEAD_MS] = isInTime ? aheadMs + ms : aheadMs;
    state[AT_MS] = nowMs;
    return isInTime;
  }
}
