/**
 * The last moments of one listener's audio at 16 kHz. Contains the 512-sample windows for the voice-activity model, read only
 * when needed and from a little earlier, because words begin before a gate detects them; and the newest audio for a recogniser,
 * including audio from before the detected begin of an utterance.
 */
import { HEARING_FRAME, HEARING_HZ, HEARING_WINDOW, type LineHz } from './hearing.ts';
import { Resampler } from './resample.ts';

const SAMPLES_PER_MS = HEARING_HZ / 1_000;
const LOOK_BACK_SAMPLES = 2_048;
/** Samples that a slow model may be behind. Older samples are skipped. */
const MOST_BEHIND_SAMPLES = 4_096;

/** Resampler that all streams share, each during one call. It keeps no samples between calls. */
const doubler = new Resampler(8_000, HEARING_HZ);
/** Samples at 8 kHz that the resampler needs before and after the samples that it converts. */
const BEFORE = doubler.lookaheadSamples - 1;
const AFTER = doubler.lookaheadSamples;
/** Delay of resampled telephone sound: the number of silent samples at 16 kHz before its first sample. */
const DELAY = 2 * AFTER;
/** Largest number of input samples that are resampled in one call. */
const MOST_TOGETHER = 1_024;
const stretch = new Int16Array(MOST_TOGETHER + BEFORE + AFTER);
const doubled = new Int16Array(2 * (MOST_TOGETHER + BEFORE));
/** Array that holds the samples for a recogniser, and the part of that array that was returned last. */
let newest = new Int16Array(0);
let newestPart = newest;

/**
 * A ring of the last 256 ms of audio, or of as many samples as the options say. Positions and counts are samples at 16 kHz; the
 * ring holds audio at the line's rate, and audio that is read is resampled once. Nothing is allocated per frame.
 */
export class RecentSound {
  readonly #ring: Int16Array;
  /** Resampled sound of a telephone line, from `#heardFrom` to `#heardTo`. For other lines it is the ring itself. */
  readonly #heard: Int16Array;
  #heardFrom = 0;
  #heardTo = 0;
  /** Number of samples at 16 kHz for each sample at the line's rate. */
  readonly #scale: number;
  readonly #most: number;
  #written = 0;
  /** Index in the ring for the next sample. At the end of the ring, the next sample goes to the beginning. */
  #place = 0;
  #read = 0;
  #skippedSamples = 0;

  constructor({
    lineHz = HEARING_HZ,
    keepSamples = 0,
  }: {
    readonly lineHz?: LineHz;
    readonly keepSamples?: number;
  } = {}) {
    this.#scale = HEARING_HZ / lineHz;
    this.#most = Math.max(keepSamples, MOST_BEHIND_SAMPLES);
    const aside = this.#scale === 1 ? 0 : BEFORE + AFTER;
    // The ring starts with silence, for frames that are read before anything was written.
    this.#ring = new Int16Array(Math.ceil(this.#most / this.#scale) + aside);
    this.#heard = this.#scale === 1 ? this.#ring : new Int16Array(this.#most);
  }

  /** Number of needed samples that arrived too fast for the model. */
  get skippedSamples(): number {
    return this.#skippedSamples;
  }

  /** Appends the next samples at the line's rate. The samples are copied. */
  push(samples: Int16Array): void {
    const capacity = this.#ring.length;
    this.#written += samples.length * this.#scale;
    if (samples.length <= capacity - this.#place) {
      this.#ring.set(samples, this.#place);
      this.#place += samples.length;
      return;
    }
    for (let at = 0; at < samples.length; ) {
      if (this.#place === capacity) this.#place = 0;
      const count = Math.min(samples.length - at, capacity - this.#place);
      this.#ring.set(samples.subarray(at, at + count), this.#place);
      this.#place += count;
      at += count;
    }
  }

  /** Moves the next window back to begin shortly before the newest 20 ms. Call this after a push. */
  lookBack(): void {
    this.#read = Math.max(this.#read, this.#written - HEARING_FRAME - LOOK_BACK_SAMPLES);
  }

  /** Continues after the last window, or skips audio that a slow model has not read. Call this after each push. */
  catchUp(): void {
    const oldest = this.#written - MOST_BEHIND_SAMPLES;
    if (this.#read >= oldest) return;
    this.#skippedSamples += oldest - this.#read;
    this.#read = oldest;
  }

  /** Writes the next window into `target` and returns its end time; undefined when no window is complete yet. */
  pull(target: Int16Array): number | undefined {
    if (this.#written - this.#read < HEARING_WINDOW) return undefined;
    if (target.length < HEARING_WINDOW) throw new RangeError('RecentSound: target is too short');
    this.#copy(this.#read, HEARING_WINDOW, target);
    this.#read += HEARING_WINDOW;
    return this.#read / SAMPLES_PER_MS;
  }

  /**
   * Returns the last `samples` samples, which must be in the ring; for telephone audio an even number. The next call for any
   * listener overwrites the result. Throws RangeError.
   */
  newest(samples: number): Int16Array {
    if (samples > Math.min(this.#written, this.#most) || samples % this.#scale !== 0) {
      throw new RangeError(`RecentSound: ${samples} samples are not kept`);
    }
    if (newest.length < samples) newest = new Int16Array(samples);
    if (newestPart.buffer !== newest.buffer || newestPart.length !== samples) {
      newestPart = newest.subarray(0, samples);
    }
    this.#copy(this.#written - samples, samples, newestPart);
    return newestPart;
  }

  #copy(from: number, samples: number, target: Int16Array): void {
    if (this.#scale > 1) this.#hear(from, from + samples);
    copyOf(this.#heard, from, samples, target);
  }

  /** Resamples the part of this stretch that was not resampled before. */
  #hear(from: number, to: number): void {
    if (from < this.#heardFrom || from > this.#heardTo) {
      this.#heardFrom = from;
      this.#heardTo = from;
    }
    while (this.#heardTo < to) {
      const count = Math.min(to - this.#heardTo, 2 * MOST_TOGETHER);
      const lineSamples = BEFORE + count / 2 + AFTER;
      copyOf(this.#ring, (this.#heardTo - DELAY) / 2 - BEFORE, lineSamples, stretch);
      doubler.reset();
      doubler.push(stretch, doubled, lineSamples);
      // Samples that the filter computed from the silence before the stretch are left out.
      this.#keep(doubled.subarray(2 * BEFORE, 2 * BEFORE + count));
    }
    this.#heardFrom = Math.max(this.#heardFrom, this.#heardTo - this.#heard.length);
  }

  #keep(samples: Int16Array): void {
    const place = this.#heardTo % this.#heard.length;
    const head = Math.min(samples.length, this.#heard.length - place);
    this.#heard.set(head === samples.length ? samples : samples.subarray(0, head), place);
    if (head < samples.length) this.#heard.set(samples.subarray(head), 0);
    this.#heardTo += samples.length;
  }
}

/** Copies `samples` samples of a ring from a position, which may be negative and then counts from the ring's end. */
function copyOf(ring: Int16Array, from: number, samples: number, target: Int16Array): void {
  const place = (from + ring.length) % ring.length;
  const head = Math.min(samples, ring.length - place);
  target.set(ring.subarray(place, place + head));
  if (head < samples) target.set(ring.subarray(0, samples - head), head);
}
