/**
 * The last moments of one listener's 16 kHz sound: the 512-sample windows that a speech model judges, only while they
 * are wanted, and then from a little before, because words begin before a gate notices them; and what came before an
 * utterance was known to have begun.
 */
import { HEARING_HZ, HEARING_WINDOW } from './hearing.ts';

const SAMPLES_PER_MS = HEARING_HZ / 1_000;
const LOOK_BACK_SAMPLES = 2_048;
/** What a slow model has not fetched after this much sound is skipped. */
const MOST_BEHIND_SAMPLES = 4_096;

/** A ring of the last 256 ms, or of as many samples as are to be kept. Nothing is allocated per frame. */
export class VadWindows {
  readonly #ring: Int16Array;
  #written = 0;
  #read = 0;
  #skippedSamples = 0;

  constructor({ keepSamples = 0 }: { readonly keepSamples?: number } = {}) {
    this.#ring = new Int16Array(Math.max(keepSamples, MOST_BEHIND_SAMPLES));
  }

  /** Samples that were wanted and came too fast for the model. */
  get skippedSamples(): number {
    return this.#skippedSamples;
  }

  push(samples: Int16Array): void {
    const capacity = this.#ring.length;
    for (let at = 0; at < samples.length; ) {
      const place = this.#written % capacity;
      const count = Math.min(samples.length - at, capacity - place);
      const isWhole = count === samples.length;
      this.#ring.set(isWhole ? samples : samples.subarray(at, at + count), place);
      this.#written += count;
      at += count;
    }
  }

  /** Whether the model is wanted for the newest sound. Call it after each push. */
  want(isWanted: boolean): void {
    const oldest = this.#written - MOST_BEHIND_SAMPLES;
    if (!isWanted) {
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
    this.#copy(this.#read, HEARING_WINDOW, target);
    this.#read += HEARING_WINDOW;
    return this.#read / SAMPLES_PER_MS;
  }

  /** A copy of the last `samples`, of which as many must have come and be kept. */
  newest(samples: number): Int16Array {
    if (samples > Math.min(this.#written, this.#ring.length)) {
      throw new RangeError(`VadWindows: ${samples} samples are not kept`);
    }
    const copy = new Int16Array(samples);
    this.#copy(this.#written - samples, samples, copy);
    return copy;
  }

  #copy(from: number, samples: number, target: Int16Array): void {
    const place = from % this.#ring.length;
    const head = this.#ring.subarray(place, place + samples);
    target.set(head);
    if (head.length < samples)
      target.set(this.#ring.subarray(0, samples - head.length), head.length);
  }
}
