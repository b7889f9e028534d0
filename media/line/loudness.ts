import { type SoundFormat, SoundReader } from '../coding.ts';

/** The mean level from which sound is loud, of 32,767: speech on a telephone line is, its noise is not. */
const LOUD = 400;

/** Measures whether pieces of a line's sound are loud. It keeps its memory from piece to piece. */
export class Loudness {
  readonly #reader: SoundReader;
  #samples = new Int16Array(320);

  constructor({ encoding }: SoundFormat) {
    this.#reader = new SoundReader(encoding);
  }

  isLoud(bytes: Uint8Array): boolean {
    const count = this.#reader.samplesIn(bytes.length);
    if (count === 0) return false;
    if (this.#samples.length < count) this.#samples = new Int16Array(count);
    this.#reader.push(bytes, this.#samples);
    let sum = 0;
    for (let i = 0; i < count; i++) sum += Math.abs(this.#samples[i] as number);
    return sum > LOUD * count;
  }
}
