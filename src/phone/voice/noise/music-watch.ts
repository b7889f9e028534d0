import { energy } from '../../../../media/pcm.ts';

/** Number of 20 ms frames in the analyzed window: 3 s. */
const FRAMES = 150;
/**
 * Share of the mean energy, both above the quietest frame's energy, below which a frame is a pause between words or syllables.
 */
const PAUSE = 0.1;
/** Least share of pauses among the frames of speech: music has fewer pauses. */
const PAUSES_OF_SPEECH = 0.2;
/** Mean change in dB from frame to frame above which sound without pauses is a crowd of voices. Notes are steadier. */
const CHANGE_OF_VOICES = 1.7;
/** Mean square below which changes do not count. */
const INAUDIBLE = 100;

/** Distinguishes music from speech by the pauses between words and syllables, which music lacks, and by its steadiness. */
export class MusicWatch {
  readonly #energies = new Float64Array(FRAMES);
  #count = 0;

  /** Takes the next 20 ms of a line, without its noise. */
  hear(samples: Int16Array): void {
    this.#energies[this.#count++ % FRAMES] = energy(samples);
  }

  get isMusic(): boolean {
    if (this.#count < FRAMES) return false;
    const sum = this.#energies.reduce((total, one) => total + one, 0);
    // A hum or a hiss that is left of the noise is no music.
    const least = this.#energies.reduce((low, one) => Math.min(low, one));
    const pause = least + PAUSE * (sum / FRAMES - least);
    const pauses = this.#energies.reduce((count, one) => count + (one <= pause ? 1 : 0), 0);
    return pauses < PAUSES_OF_SPEECH * FRAMES && this.#meanChange() < CHANGE_OF_VOICES;
  }

  #meanChange(): number {
    const level = (at: number) =>
      10 * Math.log10(Math.max(this.#energies[at % FRAMES] as number, INAUDIBLE));
    let sum = 0;
    for (let i = 1; i < FRAMES; i++) {
      sum += Math.abs(level(this.#count + i) - level(this.#count + i - 1));
    }
    return sum / (FRAMES - 1);
  }
}
