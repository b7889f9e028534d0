/**
 * How loud a line is without speech. Speech always dips between words, so the quietest moment of
 * the last seconds is the line itself, however loud its noise is.
 */

const WINDOW_FRAMES = 16;
const WINDOWS = 8;
/** Mean square below which no line carries speech: about -66 dB of full scale. */
const ALWAYS_QUIET = 16 ** 2;
/** Until the windows have been filled once, a speaker who begins at once must not pass for noise. */
const EARLY_CEILING = 120 ** 2;
/** 6 dB, in energy. */
const MARGIN = 4;

/** Follows the minimum over about 2.5 s of 20 ms frames. Fixed memory, a few operations a frame. */
export class NoiseFloor {
  readonly #minima = new Float64Array(WINDOWS).fill(Number.POSITIVE_INFINITY);
  #window = 0;
  #framesInWindow = 0;
  #filledOnce = false;
  /** In an object: a fraction in a private field of its own is allocated anew with every write. */
  readonly #recent = { energy: -1 };

  /** The mean square that the line has by itself. */
  get energy(): number {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < WINDOWS; i++) least = Math.min(least, this.#minima[i] as number);
    return this.#filledOnce ? least : Math.min(least, EARLY_CEILING);
  }

  /** Takes the mean square of the next frame and says whether it stands out of the line's noise. */
  standsOut(frameEnergy: number): boolean {
    const recent = this.#recent;
    recent.energy =
      recent.energy < 0 ? frameEnergy : recent.energy + (frameEnergy - recent.energy) / 4;
    this.#minima[this.#window] = Math.min(this.#minima[this.#window] as number, recent.energy);
    const loud = frameEnergy > ALWAYS_QUIET && frameEnergy > this.energy * MARGIN;
    if (++this.#framesInWindow === WINDOW_FRAMES) this.#nextWindow();
    return loud;
  }

  #nextWindow(): void {
    this.#framesInWindow = 0;
    this.#window = (this.#window + 1) % WINDOWS;
    this.#filledOnce ||= this.#window === 0;
    this.#minima[this.#window] = Number.POSITIVE_INFINITY;
  }
}
