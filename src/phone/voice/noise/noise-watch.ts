import { type SoundFormat, SoundReader } from '../../../../media/coding.ts';
import { energy } from '../../../../media/pcm.ts';

/** Mean square above which noise drowns words: -26 dBFS. */
const LOUD_NOISE = 1_642 ** 2;
/** Every second piece of 20 ms is judged. */
const PIECES_A_LOOK = 2;
/** Looks without a quiet one: 1.5 s. Speech that is as loud pauses within it, between words and before consonants. */
const LOOKS = 38;

/** Finds out whether a line has noise about as loud as speech. */
export class NoiseWatch {
  readonly #reader: SoundReader;
  #samples = new Int16Array(320);
  #pieces = 0;
  #loud = 0;

  constructor({ encoding }: SoundFormat) {
    this.#reader = new SoundReader(encoding);
  }

  /** Takes the next piece of a line. Returns whether the last 1.5 s of it were loud without a pause. */
  isNoisy(bytes: Uint8Array): boolean {
    if (++this.#pieces % PIECES_A_LOOK !== 0) return false;
    const count = this.#reader.samplesIn(bytes.length);
    if (this.#samples.length < count) this.#samples = new Int16Array(count);
    this.#reader.push(bytes, this.#samples);
    const isLoud = count > 0 && energy(this.#samples.subarray(0, count)) > LOUD_NOISE;
    this.#loud = isLoud ? this.#loud + 1 : 0;
    return this.#loud >= LOOKS;
  }
}
