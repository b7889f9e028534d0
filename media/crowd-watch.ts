/**
 * Tells the voice at the microphone from a crowd of voices behind it, by loudness. To a voice-activity model both are speech, so
 * on such a line it finds no end of a turn.
 */

/** Frames of 20 ms that are looked back on: 3 s. */
const FRAMES = 150;
/** Frames between two looks. */
const LOOK_FRAMES = 25;
/** Share of the mean energy below which a frame is a pause between words. */
const PAUSE = 0.1;
/**
 * Share of pauses below which a line becomes crowded: one reader has at least 0.13, three at once have 0.05 on average. The line
 * stays crowded up to the higher share, measured by the crowd's own loudness.
 */
const PAUSES = { begins: 0.1, ends: 0.25 };
/** Mean square below which a line is not crowded: -40 dBFS. */
const LEAST = 328 ** 2;
/** Frames over which loudness is averaged: 300 ms. */
const LEVEL_FRAMES = 15;
/** Frames over which the loudness of the crowd is averaged: 2 s. */
const CROWD_FRAMES = 100;
/** Factors of the energy, over the crowd's, at which a voice begins to stand out and ends to: 2 dB and 0.8 dB. */
const BEGINS = 1.6;
const ENDS = 1.2;

/** Memory is fixed; a frame costs a few operations. */
export class CrowdWatch {
  readonly #energies = new Float64Array(FRAMES);
  #count = 0;
  #isCrowded = false;
  #isNear = false;
  /** Mean energy of the last moment, and of the crowd. */
  readonly #state: [level: number, crowd: number] = [0, 0];

  /** True while the line carries sound as loud as speech without the pauses of one voice. */
  get isCrowded(): boolean {
    return this.#isCrowded;
  }

  /** True while the line is louder than its crowd. Meaningless while the line is not crowded. */
  get isNear(): boolean {
    return this.#isNear;
  }

  /** Takes the mean square of the next 20 ms. */
  hear(energy: number): void {
    const state = this.#state;
    const level = state[0] + (energy - state[0]) / LEVEL_FRAMES;
    state[0] = level;
    this.#energies[this.#count++ % FRAMES] = energy;
    if (this.#count % LOOK_FRAMES === 0 && this.#count >= FRAMES) this.#look();
    if (!this.#isCrowded) return;
    if (level > state[1] * BEGINS) this.#isNear = true;
    else if (level < state[1] * ENDS) this.#isNear = false;
    if (!this.#isNear) state[1] += (level - state[1]) / CROWD_FRAMES;
  }

  #look(): void {
    const state = this.#state;
    const loudness = this.#isCrowded ? state[1] : this.#mean();
    const pauses = this.#pauses(PAUSE * loudness) / FRAMES;
    const wasCrowded = this.#isCrowded;
    this.#isCrowded = loudness > LEAST && pauses < (wasCrowded ? PAUSES.ends : PAUSES.begins);
    if (!this.#isCrowded || wasCrowded) return;
    this.#isNear = false;
    state[1] = loudness;
  }

  #mean(): number {
    let sum = 0;
    for (let i = 0; i < FRAMES; i++) sum += this.#energies[i] as number;
    return sum / FRAMES;
  }

  #pauses(most: number): number {
    let count = 0;
    for (let i = 0; i < FRAMES; i++) if ((this.#energies[i] as number) < most) count++;
    return count;
  }
}
