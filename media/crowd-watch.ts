/**
 * Tells the voice at the microphone from a crowd of voices behind it, by loudness. To a voice-activity model both are speech, so
 * on such a line it finds no end of a turn.
 */
import { CHANGE_OF_VOICES_DB, LoudnessHistory } from './loudness-history.ts';

/** Frames between two looks: 200 ms. */
const LOOK_FRAMES = 10;
/** Share of the crowd's mean energy up to which a frame is a pause. */
const PAUSE = 0.1;
/** Unevenness in dB below which a line becomes crowded: one reader has at least 3.3 in any 3 s, of three at once most have less. */
const EVEN_DB = 3;
/** Share of pauses, measured by the crowd's own loudness, from which the crowd is gone. */
const PAUSES = 0.25;
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
  readonly #history = new LoudnessHistory();
  #isCrowded = false;
  #isNear = false;
  /** Mean energy of the last moment, and of the crowd. */
  readonly #state: [level: number, crowd: number] = [0, 0];

  /** True while the line carries sound as loud as speech, and evener than one voice. */
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
    const history = this.#history;
    history.push(energy);
    if (history.frames % LOOK_FRAMES === 0 && history.isFull) this.#look(history);
    if (!this.#isCrowded) return;
    if (level > state[1] * BEGINS) this.#isNear = true;
    else if (level < state[1] * ENDS) this.#isNear = false;
    if (!this.#isNear) state[1] += (level - state[1]) / CROWD_FRAMES;
  }

  #look(history: LoudnessHistory): void {
    const state = this.#state;
    if (this.#isCrowded) {
      this.#isCrowded = state[1] > LEAST && history.shareUpTo(PAUSE * state[1]) < PAUSES;
      return;
    }
    const mean = history.mean();
    this.#isCrowded =
      mean > LEAST &&
      history.unevennessDb() < EVEN_DB &&
      history.meanChangeDb() > CHANGE_OF_VOICES_DB;
    this.#isNear = false;
    state[1] = mean;
  }
}
