/**
 * Estimates how loud a line is without speech. Speech always dips between words, so the quietest moment of
 * the last seconds is the line itself, however loud its noise is.
 */

const WINDOW_FRAMES = 16;
const WINDOWS = 8;
/** Mean square below which no line carries speech: about -66 dB of full scale. */
const ALWAYS_QUIET = 16 ** 2;
/** Upper bound of the estimate until all windows have been filled once: early speech must not pass for noise. */
const EARLY_CEILING = 120 ** 2;
/** Factor of the energy between noise and speech: 6 dB. */
const MARGIN = 4;
const NONE = Number.POSITIVE_INFINITY;

const RECENT = 0;
const THIS_WINDOW = 1;
const OTHER_WINDOWS = 2;

/** Tracks the minimum energy over about 2.5 s of 20 ms frames. Memory is fixed; a frame costs a few operations. */
export class NoiseFloor {
  #framesInWindow = 0;
  #filledOnce = false;
  /** Numbers that each frame reads and writes, in one array (docs/decisions/0109). `recent` is NaN before the first frame. */
  readonly #state: [recent: number, thisWindow: number, otherWindows: number] = [
    Number.NaN,
    NONE,
    NONE,
  ];
  /** Minimum energy of each completed window. */
  readonly #minima = new Array<number>(WINDOWS).fill(NONE);
  #window = 0;

  /** Returns the mean square of the line's own noise. */
  get energy(): number {
    const state = this.#state;
    const least = Math.min(state[THIS_WINDOW], state[OTHER_WINDOWS]);
    return this.#filledOnce ? least : Math.min(least, EARLY_CEILING);
  }

  /** Takes the mean square of the next frame and returns true when it exceeds the line's noise. */
  standsOut(frameEnergy: number): boolean {
    const state = this.#state;
    const before = state[RECENT];
    const recent = Number.isNaN(before) ? frameEnergy : before + (frameEnergy - before) / 4;
    state[RECENT] = recent;
    state[THIS_WINDOW] = Math.min(state[THIS_WINDOW], recent);
    const loud = frameEnergy > ALWAYS_QUIET && frameEnergy > this.energy * MARGIN;
    if (++this.#framesInWindow === WINDOW_FRAMES) this.#nextWindow();
    return loud;
  }

  #nextWindow(): void {
    const state = this.#state;
    this.#framesInWindow = 0;
    this.#minima[this.#window] = state[THIS_WINDOW];
    this.#window = (this.#window + 1) % WINDOWS;
    this.#filledOnce ||= this.#window === 0;
    this.#minima[this.#window] = NONE;
    state[THIS_WINDOW] = NONE;
    state[OTHER_WINDOWS] = Math.min(...this.#minima);
  }
}
