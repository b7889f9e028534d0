import { VOICE_LIMITS } from '../limits.ts';

const AHEAD_MS = 0;
const AT_MS = 1;

/** Limits how far ahead of real time a client's audio may arrive. Silence earns no credit. */
export class AudioAllowance {
  /** Two fractions in one array, which V8 stores unboxed (docs/decisions/0109). */
  readonly #state: [aheadMs: number, atMs: number];

  /** Starts the allowance. `nowMs` is a time of the monotonic clock. */
  constructor(nowMs: number) {
    this.#state = [0, nowMs];
  }

  /** Time when audio last arrived, refused audio included; before any audio, the time of construction. */
  get lastAtMs(): number {
    return this.#state[AT_MS];
  }

  /** Counts `ms` of audio. Returns false, and does not count it, when the audio is too far ahead of real time. */
  take(ms: number, nowMs: number): boolean {
    const state = this.#state;
    const aheadMs = Math.max(0, state[AHEAD_MS] - (nowMs - state[AT_MS]));
    const isInTime = aheadMs + ms <= VOICE_LIMITS.audioAheadSeconds * 1_000;
    state[AHEAD_MS] = isInTime ? aheadMs + ms : aheadMs;
    state[AT_MS] = nowMs;
    return isInTime;
  }
}
