import { type SoundCoding, SoundReader } from '../../../media/coding.ts';
import { frameSamples, lineHzOf } from '../../../media/hearing.ts';
import { Resampler } from '../../../media/resample.ts';

/** Buffers that all streams of the process share, during one call each. */
let decoded = new Int16Array(8_192);
let resampled = new Int16Array(16_384);

export type FrameListener = { frame(frame: Int16Array): void };

/**
 * Turns the bytes of one stream, cut at any place, into 20 ms frames at the rate of its line (`lineHzOf`). The listener's
 * frame is reused: copy what must be kept. A stream that is resampled begins with the 1.5 ms of silence that resampling
 * holds back, so that a client's 20 ms fill a frame at once.
 */
export class VoiceIntake {
  readonly #reader: SoundReader;
  /** Undefined: the stream has the rate of its line. */
  readonly #resampler: Resampler | undefined;
  readonly #listener: FrameListener;
  /** Samples of padding in a frame, which the client did not send. */
  readonly #heldBack: number;
  /** The next frame, so far. */
  readonly #begun: Int16Array;
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
    this.#begun = new Int16Array(frameSamples(lineHz));
    const known = this.#resampler?.outputSamples(frameSamples(sampleRateHz));
    this.#heldBack = known === undefined ? 0 : this.#begun.length - known;
    this.#filled = this.#heldBack;
  }

  push(bytes: Uint8Array): void {
    if (decoded.length < bytes.length + 1) decoded = new Int16Array(bytes.length + 1);
    const samples = this.#reader.push(bytes, decoded);
    const resampler = this.#resampler;
    if (resampler === undefined) {
      this.#cut(decoded, samples);
      return;
    }
    const count = resampler.outputSamples(samples);
    if (resampled.length < count) resampled = new Int16Array(count);
    this.#cut(resampled, resampler.push(decoded, resampled, samples));
  }

  /** Ends the stream: pads the last partial frame with silence, or drops one no longer than the first silence. */
  flush(): void {
    const resampler = this.#resampler;
    if (resampler !== undefined) {
      const most = resampler.outputSamples(resampler.lookaheadSamples) + this.#begun.length;
      const tail = new Int16Array(most);
      this.#cut(tail, resampler.flush(tail));
    }
    this.#reader.reset();
    const isMoreThanHeldBack = this.#filled > this.#heldBack;
    if (isMoreThanHeldBack) {
      this.#begun.fill(0, this.#filled);
      this.#listener.frame(this.#begun);
    }
    this.#begun.fill(0);
    this.#filled = this.#heldBack;
  }

  #cut(samples: Int16Array, count: number): void {
    const begun = this.#begun;
    for (let at = 0; at < count; ) {
      const taken = Math.min(count - at, begun.length - this.#filled);
      // A view would cost more than a frame's samples one by one.
      for (let i = 0; i < taken; i++) begun[this.#filled + i] = samples[at + i] as number;
      this.#filled += taken;
      at += taken;
      if (this.#filled < begun.length) continue;
      this.#filled = 0;
      this.#listener.frame(begun);
    }
  }
}
