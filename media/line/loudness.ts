import { type SoundFormat, SoundReader } from '../coding.ts';

/** Mean level, of 32,767, from which sound is loud. Speech on a telephone line reaches it; noise does not. */
const LOUD = 400;
/** Mean level, of 32,767, from which a consonant is audible. A consonant is softer than a vowel. */
const AUDIBLE = 100;
/** Frequency above which the energy of a consonant such as "s" or "t" lies. Vowels and hums lie below. */
const SHARP_HZ = 1_250;

/** Measures whether chunks of a line's sound are loud. Its buffers are reused from chunk to chunk. */
export class Loudness {
  readonly #reader: SoundReader;
  /** Ratio, for a tone of `SHARP_HZ`, between the energy of its sample-to-sample differences and its own energy. */
  readonly #sharpRatio: number;
  #samples = new Int16Array(320);
  #isSharp = false;

  constructor({ encoding, sampleRateHz }: SoundFormat) {
    this.#reader = new SoundReader(encoding);
    this.#sharpRatio = 2 * (1 - Math.cos((2 * Math.PI * SHARP_HZ) / sampleRateHz));
  }

  /** Returns true when the last piece sounded like a breathed or burst consonant, and not like a vowel or a hum. */
  get isSharp(): boolean {
    return this.#isSharp;
  }

  isLoud(bytes: Uint8Array): boolean {
    const count = this.#reader.samplesIn(bytes.length);
    this.#isSharp = false;
    if (count === 0) return false;
    if (this.#samples.length < count) this.#samples = new Int16Array(count);
    const samples = this.#samples;
    this.#reader.push(bytes, samples);
    let sum = 0;
    let energy = 0;
    let changes = 0;
    let before = samples[0] as number;
    for (let i = 0; i < count; i++) {
      const sample = samples[i] as number;
      const change = sample - before;
      before = sample;
      sum += Math.abs(sample);
      energy += sample * sample;
      changes += change * change;
    }
    this.#isSharp = sum > AUDIBLE * count && changes > this.#sharpRatio * energy;
    return sum > LOUD * count;
  }
}
