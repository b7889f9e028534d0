import { type SoundCoding, SoundReader } from '../coding.ts';
import { frameSamples, lineHzOf } from '../hearing.ts';
import { Resampler } from '../resample.ts';

/**
 * Buffers that a stream uses during one call. All streams share them, since separate buffers would not stay in the processor's
 * cache.
 */
class SharedSamples {
  #all = new Int16Array(8_192);
  #first = new Int16Array();

  /** Returns an array of at least `count` samples. */
  room(count: number): Int16Array {
    if (this.#all.length < count) this.#all = new Int16Array(count);
    return this.#all;
  }

  /** Returns the first `count` samples of the last array. */
  first(count: number): Int16Array {
    const isKnown = this.#first.buffer === this.#all.buffer && this.#first.length === count;
    if (!isKnown) this.#first = this.#all.subarray(0, count);
    return this.#first;
  }
}

const decoded = new SharedSamples();
const resampled = new SharedSamples();

export type FrameListener = { frame(frame: Int16Array): void };

/**
 * Turns the bytes of one stream, cut at any place, into 20 ms frames at the rate of its line (`lineHzOf`). The listener's
 * frame is reused: copy what must be kept. A stream that is resampled begins with the 1.5 ms of silence that resampling
 * holds back, so that a client's 20 ms fill a frame at once.
 */
export class FrameDecoder {
  readonly #reader: SoundReader;
  /** Undefined when the stream has the rate of its line. */
  readonly #resampler: Resampler | undefined;
  readonly #listener: FrameListener;
  /** Number of padding samples in a frame, which the client did not send. */
  readonly #heldBack: number;
  readonly #frameSamples: number;
  /** The partly filled next frame; undefined until audio arrives that is not cut into whole frames. */
  #begun: Int16Array | undefined;
  #filled: number;

  constructor(options: {
    readonly encoding: SoundCoding;
    readonly sampleRateHz: number;
    readonly listener: FrameListener;
  }) {
    const { encoding, listener, sampleRateHz } = options;
    const lineHz = lineHzOf(sampleRateHz);
    this.#reader = new SoundReader(encoding);
    this.#resampler = sampleRateHz === lineHz ? undefined : new Resampler(sampleRateHz, lineHz);
    this.#listener = listener;
    this.#frameSamples = frameSamples(lineHz);
    const known = this.#resampler?.outputSamples(frameSamples(sampleRateHz));
    this.#heldBack = known === undefined ? 0 : this.#frameSamples - known;
    this.#filled = this.#heldBack;
  }

  push(bytes: Uint8Array): void {
    const line = decoded.room(this.#reader.samplesIn(bytes.length));
    const samples = this.#reader.push(bytes, line);
    const resampler = this.#resampler;
    if (resampler === undefined) {
      this.#cut(decoded, samples);
      return;
    }
    const heard = resampled.room(resampler.outputSamples(samples));
    this.#cut(resampled, resampler.push(line, heard, samples));
  }

  /** Ends the stream: pads the last partial frame with silence, or drops it when it is no longer than the initial silence. */
  flush(): void {
    const resampler = this.#resampler;
    if (resampler !== undefined) {
      const tail = resampled.room(resampler.outputSamples(resampler.lookaheadSamples));
      this.#cut(resampled, resampler.flush(tail));
    }
    this.#reader.reset();
    const isMoreThanHeldBack = this.#filled > this.#heldBack;
    if (isMoreThanHeldBack && this.#begun !== undefined) {
      this.#begun.fill(0, this.#filled);
      this.#listener.frame(this.#begun);
    }
    this.#begun = undefined;
    this.#filled = this.#heldBack;
  }

  #cut(shared: SharedSamples, count: number): void {
    const frameSamples = this.#frameSamples;
    if (this.#filled === 0 && count === frameSamples) {
      this.#listener.frame(shared.first(frameSamples));
      return;
    }
    const samples = shared.first(count);
    this.#begun ??= new Int16Array(frameSamples);
    for (let at = 0; at < count; ) {
      const taken = Math.min(count - at, frameSamples - this.#filled);
      this.#begun.set(samples.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled < frameSamples) continue;
      this.#filled = 0;
      this.#listener.frame(this.#begun);
    }
  }
}
