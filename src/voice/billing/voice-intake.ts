import { type SoundCoding, SoundReader } from '../../../media/coding.ts';
import { HEARING_FRAME, HEARING_HZ } from '../../../media/hearing.ts';
import { Resampler } from '../../../media/resample.ts';

const FRAMES_A_SECOND = HEARING_HZ / HEARING_FRAME;

/** Buffers that all streams of the process share, during one call each. */
let decoded = new Int16Array(8_192);
let resampled = new Int16Array(16_384);
let firstFrame = resampled.subarray(0, HEARING_FRAME);

export type FrameListener = { frame(frame: Int16Array): void };

/**
 * Turns the bytes of one stream, cut at any place, into 20 ms frames of 16 kHz audio. The listener's frame is reused:
 * copy what must be kept. The stream begins with the 1.5 ms of silence that resampling holds back, so that a client's
 * 20 ms fill a frame at once.
 */
export class VoiceIntake {
  readonly #reader: SoundReader;
  readonly #resampler: Resampler;
  readonly #listener: FrameListener;
  /** Samples of padding in a frame, which the client did not send. */
  readonly #heldBack: number;
  /** The next frame, so far. */
  readonly #begun = new Int16Array(HEARING_FRAME);
  #filled: number;

  constructor(options: {
    readonly encoding: SoundCoding;
    readonly sampleRateHz: number;
    readonly listener: FrameListener;
  }) {
    this.#reader = new SoundReader(options.encoding);
    this.#resampler = new Resampler(options.sampleRateHz, HEARING_HZ);
    this.#listener = options.listener;
    const firstSamples = Math.floor(options.sampleRateHz / FRAMES_A_SECOND);
    this.#heldBack = HEARING_FRAME - this.#resampler.outputSamples(firstSamples);
    this.#filled = this.#heldBack;
  }

  push(bytes: Uint8Array): void {
    if (decoded.length < bytes.length + 1) decoded = new Int16Array(bytes.length + 1);
    const samples = this.#reader.push(bytes, decoded);
    const count = this.#resampler.outputSamples(samples);
    if (resampled.length < count) {
      resampled = new Int16Array(count);
      firstFrame = resampled.subarray(0, HEARING_FRAME);
    }
    this.#cut(resampled, this.#resampler.push(decoded, resampled, samples));
  }

  /** Ends the stream: pads the last partial frame with silence, or drops one no longer than the first silence. */
  flush(): void {
    const tail = new Int16Array(
      this.#resampler.outputSamples(this.#resampler.lookaheadSamples) + HEARING_FRAME,
    );
    this.#cut(tail, this.#resampler.flush(tail));
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
    if (this.#filled === 0 && count === HEARING_FRAME && samples === resampled) {
      this.#listener.frame(firstFrame);
      return;
    }
    for (let at = 0; at < count; ) {
      const taken = Math.min(count - at, HEARING_FRAME - this.#filled);
      this.#begun.set(samples.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled < HEARING_FRAME) continue;
      this.#filled = 0;
      this.#listener.frame(this.#begun);
    }
  }
}
