/**
 * Cuts 16 kHz sound into the 512-sample windows that a speech model judges, only while they are
 * wanted, and then from a little before: words begin before a gate notices them.
 */
import { HEARING_HZ, HEARING_WINDOW } from './hearing.ts';

const SAMPLES_PER_MS = HEARING_HZ / 1_000;
const LOOK_BACK_SAMPLES = 2_048;
/** What a slow model has not fetched after this much sound is skipped. */
const CAPACITY_SAMPLES = 4_096;

/** A ring of the last 256 ms. Nothing is allocated after the constructor. */
export class VadWindows {
  readonly #ring = new Int16Array(CAPACITY_SAMPLES);
  #written = 0;
  #read = 0;
  #skippedSamples = 0;

  /** Samples that were wanted and came too fast for the model. */
  get skippedSamples(): number {
    return this.#skippedSamples;
  }

  push(samples: Int16Array, wanted: boolean): void {
    for (let at = 0; at < samples.length; ) {
      const place = this.#written % CAPACITY_SAMPLES;
      const count = Math.min(samples.length - at, CAPACITY_SAMPLES - place);
      const isWhole = count === samples.length;
      this.#ring.set(isWhole ? samples : samples.subarray(at, at + count), place);
      this.#written += count;
      at += count;
    }
    const oldest = this.#written - CAPACITY_SAMPLES;
    if (!wanted) {
      this.#read = Math.max(this.#read, this.#written - LOOK_BACK_SAMPLES);
    } else if (this.#read < oldest) {
      this.#skippedSamples += oldest - this.#read;
      this.#read = oldest;
    }
  }

  /** Writes the next window into `target` and returns the time at which it ends, or nothing yet. */
  pull(target: Int16Array): number | undefined {
    if (this.#written - this.#read < HEARING_WINDOW) return undefined;
    if (target.length < HEARING_WINDOW) throw new RangeError('VadWindows: target is too short');
    const place = this.#read % CAPACITY_SAMPLES;
    const head = this.#ring.subarray(place, place + HEARING_WINDOW);
    target.set(head);
    if (head.length < HEARING_WINDOW) {
      target.set(this.#ring.subarray(0, HEARING_WINDOW - head.length), head.length);
    }
    this.#read += HEARING_WINDOW;
    return this.#read / SAMPLES_PER_MS;
  }
}
