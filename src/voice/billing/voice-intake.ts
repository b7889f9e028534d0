import { SoundReader } from '../../../media/coding.ts';
import { HEARING_FRAME, HEARING_HZ } from '../../../media/hearing.ts';
import { Resampler } from '../../../media/resample.ts';
import type { AudioEncoding } from '../session/audio-format.ts';

const FRAMES_A_SECOND = HEARING_HZ / HEARING_FRAME;

/** Work memory that all streams of the process share: nothing of it outlives one call. */
let decoded = new Int16Array(8_192);
let resampled = new Int16Array(16_384);
let firstFrame = resampled.subarray(0, HEARING_FRAME);

/** Who is given the frames. */
export type FrameListener = { frame(frame: Int16Array): void };

/**
 * Turns the bytes of one stream, cut at any place, into 20 ms frames of 16 kHz audio. The frame given
 * to the listener is reused: copy what must be kept.
 *
 * The stream begins with as much silence as resampling holds back, 1.5 ms: a client's 20 ms are then heard as a whole
 * frame at once, instead of waiting for the next 20 ms.
 */
export class VoiceIntake {
  readonly #reader: SoundReader;
  readonly #resampler: Resampler;
  readonly #listener: FrameListener;
  /** How much of a frame is padding that the client did not send. */
  readonly #heldBack: number;
  /** What has come of the next frame. */
  readonly #begun = new Int16Array(HEARING_FRAME);
  #filled: number;

  constructor(options: {
    readonly encoding: AudioEncoding;
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

  /**
   * Ends the stream: what fills no whole frame comes out padded with silence, unless it is less than the silence that
   * the stream began with.
   */
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
