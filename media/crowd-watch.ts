/**
 * Distinguishes a caller's voice from a crowd behind the caller, by loudness. A voice-activity model takes both for speech, so
 * the model finds no end of a turn on a crowded line.
 */
import { CHANGE_OF_VOICES_DB, LoudnessHistory } from './loudness-history.ts';

/** Frames between two checks: 500 ms. */
const CHECK_FRAMES = 25;
/** Share of the crowd's mean energy up to which a frame is a pause. */
const PAUSE = 0.1;
/** Unevenness in dB below which a line becomes crowded: one reader has at least 3.3 over 3 s, three at once 2.5 in the median. */
const EVEN_DB = 3;
/** Share of pauses, measured by the crowd's own loudness, from which the crowd is gone. */
const PAUSES = 0.25;
/** Mean square below which a line is not crowded: -40 dBFS. */
const LEAST = 328 ** 2;
/** Mean square over 300 ms below which a line is quiet, and no frame is kept: -50 dBFS. A crowd has no such pause. */
const QUIET = LEAST / 10;
/** Frames over which loudness is averaged: 300 ms. */
const LEVEL_FRAMES = 15;
/** Frames over which the loudness of the crowd is averaged: 2 s. */
const CROWD_FRAMES = 100;
/** Ratios of the line's energy to the crowd's: a voice stands out from 2 dB on, until it falls below 0.8 dB. */
const BEGINS = 1.6;
const ENDS = 1.2;

/** Watches one line. Uses a fixed amount of memory. */
export class CrowdWatch {
  readonly #history = new LoudnessHistory();
  #isCrowded = false;
  #isNear = false;
  /** Mean energy over 300 ms, and of the crowd over 2 s. */
  readonly #state: [level: number, crowd: number] = [0, 0];

  /**
   * True from the time at which 3 s of sound are even enough for several voices, until a quarter of 3 s are pauses or the crowd
   * falls to -40 dBFS.
   */
  get isCrowded(): boolean {
    return this.#isCrowded;
  }

  /** True from the time at which the line exceeds its crowd by 2 dB, until 0.8 dB. Read it only while `isCrowded` is true. */
  get isNear(): boolean {
    return this.#isNear;
  }

  /** Takes the mean square of the next 20 ms. */
  hear(energy: number): void {
    const state = this.#state;
    const level = state[0] + (energy - state[0]) / LEVEL_FRAMES;
    state[0] = level;
    const history = this.#history;
    if (level < QUIET) {
      if (history.frames > 0) this.#forget(history);
      return;
    }
    history.push(energy);
    if (history.frames % CHECK_FRAMES === 0 && history.isFull) this.#check(history);
    if (!this.#isCrowded) return;
    if (level > state[1] * BEGINS) this.#isNear = true;
    else if (level < state[1] * ENDS) this.#isNear = false;
    if (!this.#isNear) state[1] += (level - state[1]) / CROWD_FRAMES;
  }

  #forget(history: LoudnessHistory): void {
    history.forget();
    this.#isCrowded = false;
  }

  #check(history: LoudnessHistory): void {
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
