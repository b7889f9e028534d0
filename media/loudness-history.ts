/** Frames of 20 ms that are kept: 3 s. */
const FRAMES = 150;
/** Mean square below which loudness counts as the same: -70 dBFS. */
const INAUDIBLE = 100;

/** Energy of the last 3 s of a line, frame by frame. Memory is fixed. */
export class LoudnessHistory {
  readonly #energies = new Float32Array(FRAMES);
  #count = 0;

  /** Takes the mean square of the next 20 ms. */
  push(energy: number): void {
    this.#energies[this.#count++ % FRAMES] = energy;
  }

  forget(): void {
    this.#count = 0;
  }

  /** Number of frames taken since the history was empty. */
  get frames(): number {
    return this.#count;
  }

  /** True once 3 s were taken. */
  get isFull(): boolean {
    return this.#count >= FRAMES;
  }

  /** Returns the mean energy. */
  mean(): number {
    let sum = 0;
    for (const energy of this.#energies) sum += energy;
    return sum / FRAMES;
  }

  /** Returns the energy of the quietest frame. */
  least(): number {
    return this.#energies.reduce((least, energy) => Math.min(least, energy));
  }

  /** Returns the share of frames up to this energy, from 0 to 1. */
  shareUpTo(energy: number): number {
    return this.#energies.reduce((count, one) => count + (one <= energy ? 1 : 0), 0) / FRAMES;
  }

  /** Returns the mean change from frame to frame, in dB. Notes and noise change by less than 1.5 dB, voices by 1.9 and more. */
  meanChangeDb(): number {
    let before = this.#levelOf(0);
    let sum = 0;
    for (let nth = 1; nth < FRAMES; nth++) {
      const level = this.#levelOf(nth);
      sum += Math.abs(level - before);
      before = level;
    }
    return sum / (FRAMES - 1);
  }

  /**
   * Returns the dB by which the mean energy exceeds the mean level: the less, the evener the loudness. One reader has at least 3.3,
   * three at once have 2.5 in the median.
   */
  unevennessDb(): number {
    let sum = 0;
    for (let nth = 0; nth < FRAMES; nth++) sum += this.#levelOf(nth);
    return 10 * Math.log10(Math.max(this.mean(), INAUDIBLE)) - sum / FRAMES;
  }

  /** Returns the level of a frame in dB, counted from the oldest. */
  #levelOf(nth: number): number {
    const energy = this.#energies[(this.#count + nth) % FRAMES] as number;
    return 10 * Math.log10(Math.max(energy, INAUDIBLE));
  }
}

/** Mean change in dB from frame to frame above which sound without pauses is several voices. */
export const CHANGE_OF_VOICES_DB = 1.7;
