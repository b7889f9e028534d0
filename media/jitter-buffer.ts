/**
 * Puts frames of 16-bit samples back into order. A frame's place is a whole number that grows by one per frame: a packet's
 * chunk number, or its timestamp divided by the frame length.
 */

export type Arrival = 'kept' | 'late' | 'duplicate' | 'malformed';
/** Result of `pull`. `waiting` means that no frame is due yet, and the next `pull` should follow one frame later. */
export type Departure = 'frame' | 'concealed' | 'waiting';

export type JitterCounters = {
  readonly late: number;
  readonly duplicate: number;
  readonly malformed: number;
  /** Number of missing frames that were replaced by a fading repetition. */
  readonly concealed: number;
  /** Number of places that were skipped because a frame arrived further ahead than the buffer reaches. */
  readonly skipped: number;
  /** Number of times that the stream's numbering restarted. */
  readonly restarts: number;
};

const EMPTY = -1;
/** Number of repetitions that fill a gap, each at half the strength of the one before. After them the gap is silence. */
const MAX_REPETITIONS = 3;

/**
 * Buffer with a fixed number of slots. Playback starts when `depthFrames` frames are there. A missing frame is concealed once
 * `depthFrames` later frames have arrived, or as many frames of time have passed.
 */
export class JitterBuffer {
  readonly #frameSamples: number;
  readonly #capacity: number;
  readonly #depth: number;
  readonly #samples: Int16Array;
  readonly #places: Float64Array;
  readonly #lastFrame: Int16Array;
  readonly #counters = {
    late: 0,
    duplicate: 0,
    malformed: 0,
    concealed: 0,
    skipped: 0,
    restarts: 0,
  };
  #next = EMPTY;
  #buffered = 0;
  #playing = false;
  #repetitions = 0;
  #lateInARow = 0;
  #waits = 0;

  constructor(options: {
    readonly frameSamples: number;
    readonly capacityFrames: number;
    readonly depthFrames: number;
  }) {
    const { frameSamples, capacityFrames, depthFrames } = options;
    if (depthFrames < 1 || depthFrames > capacityFrames || frameSamples < 1) {
      throw new RangeError('JitterBuffer: the depth is at least 1 and at most the capacity');
    }
    this.#frameSamples = frameSamples;
    this.#capacity = capacityFrames;
    this.#depth = depthFrames;
    this.#samples = new Int16Array(frameSamples * capacityFrames);
    this.#places = new Float64Array(capacityFrames).fill(EMPTY);
    this.#lastFrame = new Int16Array(frameSamples);
  }

  get bufferedFrames(): number {
    return this.#buffered;
  }

  get counters(): JitterCounters {
    return this.#counters;
  }

  /** Copies `samples` into their place and returns the outcome. */
  push(place: number, samples: Int16Array): Arrival {
    if (!Number.isSafeInteger(place) || place < 0 || samples.length !== this.#frameSamples) {
      this.#counters.malformed++;
      return 'malformed';
    }
    if (this.#next === EMPTY) this.#next = place;
    if (place < this.#next) {
      // Before the first frame has been played, an earlier frame is still in time.
      const inTime = !this.#playing && this.#furthest() - place < this.#capacity;
      if (inTime) this.#next = place;
      else if (!this.#beginsAnew(place)) return 'late';
    }
    this.#lateInARow = 0;
    if (place >= this.#next + this.#capacity) this.#skipTo(place - this.#capacity + 1);

    const slot = place % this.#capacity;
    if (this.#places[slot] === place) {
      this.#counters.duplicate++;
      return 'duplicate';
    }
    this.#places[slot] = place;
    this.#samples.set(samples, slot * this.#frameSamples);
    this.#buffered++;
    return 'kept';
  }

  /**
   * Writes the due frame, or a replacement for a lost frame, into the front of `target`. Throws RangeError when `target` is too
   * short.
   */
  pull(target: Int16Array): Departure {
    if (target.length < this.#frameSamples) {
      throw new RangeError('JitterBuffer: target is too short');
    }
    if (this.#buffered === 0) return 'waiting';
    const waitedEnough = this.#buffered >= this.#depth || this.#waits >= this.#depth;
    this.#playing ||= waitedEnough;
    if (!this.#playing) return this.#wait();

    const slot = this.#next % this.#capacity;
    if (this.#places[slot] === this.#next) {
      const start = slot * this.#frameSamples;
      for (let i = 0; i < this.#frameSamples; i++) {
        this.#lastFrame[i] = this.#samples[start + i] as number;
      }
      target.set(this.#lastFrame);
      this.#places[slot] = EMPTY;
      this.#buffered--;
      this.#repetitions = 0;
      this.#waits = 0;
      this.#next++;
      return 'frame';
    }
    if (!waitedEnough) return this.#wait();
    this.#conceal(target);
    this.#next++;
    return 'concealed';
  }

  reset(): void {
    this.#places.fill(EMPTY);
    this.#next = EMPTY;
    this.#buffered = 0;
    this.#playing = false;
    this.#repetitions = 0;
    this.#lateInARow = 0;
    this.#waits = 0;
  }

  #wait(): Departure {
    this.#waits++;
    return 'waiting';
  }

  #furthest(): number {
    return this.#places.reduce((most, place) => Math.max(most, place), this.#next);
  }

  /**
   * Counts a late frame. After a whole buffer of late frames in a row the sender counts from a new origin: resets to `place`
   * and returns true.
   */
  #beginsAnew(place: number): boolean {
    this.#counters.late++;
    if (++this.#lateInARow < this.#capacity) return false;
    this.reset();
    this.#counters.restarts++;
    this.#next = place;
    return true;
  }

  #skipTo(next: number): void {
    this.#counters.skipped += next - this.#next;
    this.#next = next;
    for (let slot = 0; slot < this.#capacity; slot++) {
      const place = this.#places[slot] as number;
      if (place === EMPTY || place >= next) continue;
      this.#places[slot] = EMPTY;
      this.#buffered--;
    }
  }

  #conceal(target: Int16Array): void {
    this.#counters.concealed++;
    this.#repetitions++;
    if (this.#repetitions > MAX_REPETITIONS) {
      target.fill(0, 0, this.#frameSamples);
      return;
    }
    for (let i = 0; i < this.#frameSamples; i++) {
      target[i] = (this.#lastFrame[i] as number) >> this.#repetitions;
    }
  }
}
