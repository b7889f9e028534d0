import { SoundReader } from '../../media/coding.ts';
import { HEARING_FRAME, HEARING_HZ } from '../../media/hearing.ts';
import { Resampler } from '../../media/resample.ts';
import type { AudioEncoding } from './realtime/audio-format.ts';

/** Work memory that all streams of the process share: nothing of it outlives one call. */
let decoded = new Int16Array(8_192);
let resampled = new Int16Array(16_384);

/**
 * Turns the bytes of one stream, cut at any place, into 20 ms frames of 16 kHz audio. The frame given
 * to `onFrame` is reused: copy what must be kept.
 */
export class VoiceIntake {
  readonly #reader: SoundReader;
  readonly #resampler: Resampler;
  readonly #onFrame: (frame: Int16Array) => void;
  readonly #frame = new Int16Array(HEARING_FRAME);
  #filled = 0;

  constructor(options: {
    readonly encoding: AudioEncoding;
    readonly sampleRateHz: number;
    readonly onFrame: (frame: Int16Array) => void;
  }) {
    this.#reader = new SoundReader(options.encoding);
    this.#resampler = new Resampler(options.sampleRateHz, HEARING_HZ);
    this.#onFrame = options.onFrame;
  }

  push(bytes: Uint8Array): void {
    if (decoded.length < bytes.length + 1) decoded = new Int16Array(bytes.length + 1);
    const samples = decoded.subarray(0, this.#reader.push(bytes, decoded));
    const count = this.#resampler.outputSamples(samples.length);
    if (resampled.length < count) resampled = new Int16Array(count);
    this.#cut(resampled.subarray(0, this.#resampler.push(samples, resampled)));
  }

  /** Ends the stream: what fills no whole frame comes out padded with silence. */
  flush(): void {
    const tail = new Int16Array(
      this.#resampler.outputSamples(this.#resampler.lookaheadSamples) + HEARING_FRAME,
    );
    this.#cut(tail.subarray(0, this.#resampler.flush(tail)));
    this.#reader.reset();
    if (this.#filled === 0) return;
    this.#frame.fill(0, this.#filled);
    this.#filled = 0;
    this.#onFrame(this.#frame);
  }

  #cut(samples: Int16Array): void {
    for (let at = 0; at < samples.length; ) {
      const count = Math.min(samples.length - at, HEARING_FRAME - this.#filled);
      this.#frame.set(samples.subarray(at, at + count), this.#filled);
      this.#filled += count;
      at += count;
      if (this.#filled < HEARING_FRAME) continue;
      this.#filled = 0;
      this.#onFrame(this.#frame);
    }
  }
}
