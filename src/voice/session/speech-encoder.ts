import { encodeAlaw } from '../../../media/alaw.ts';
import type { SoundFormat } from '../../../media/coding.ts';
import { encodeMulaw } from '../../../media/mulaw.ts';
import { writePcmBytes } from '../../../media/pcm.ts';
import { Resampler } from '../../../media/resample.ts';
import { LIMITS } from '../../kernel/limits.ts';

/** Turns synthesised speech into deltas of the client's format, each at most `LIMITS.speechDeltaMs` long. */
export class SpeechEncoder {
  readonly #format: SoundFormat;
  #resampler: Resampler | undefined;

  constructor(format: SoundFormat) {
    this.#format = format;
  }

  /** Encodes a piece of a sentence, without the samples that resampling holds back. */
  *piece(pcm: Int16Array, sampleRateHz: number): Generator<Uint8Array> {
    const { sampleRateHz: toHz } = this.#format;
    if (this.#resampler?.fromHz !== sampleRateHz) {
      this.#resampler = new Resampler(sampleRateHz, toHz);
    }
    const stepIn = Math.floor((sampleRateHz * LIMITS.speechDeltaMs) / 1_000);
    for (let at = 0; at < pcm.length; at += stepIn) {
      const input = pcm.subarray(at, at + stepIn);
      const target = new Int16Array(this.#resampler.outputSamples(input.length));
      const bytes = this.#encode(target.subarray(0, this.#resampler.push(input, target)));
      if (bytes.length > 0) yield bytes;
    }
  }

  /** The rest of a sentence; the next one starts afresh. */
  *end(): Generator<Uint8Array> {
    if (this.#resampler === undefined) return;
    const { lookaheadSamples } = this.#resampler;
    const tail = new Int16Array(this.#resampler.outputSamples(lookaheadSamples));
    const bytes = this.#encode(tail.subarray(0, this.#resampler.flush(tail)));
    if (bytes.length > 0) yield bytes;
  }

  #encode(samples: Int16Array): Uint8Array {
    switch (this.#format.encoding) {
      case 'linear16': {
        const bytes = new Uint8Array(samples.length * 2);
        writePcmBytes(samples, bytes);
        return bytes;
      }
      case 'mulaw': {
        const bytes = new Uint8Array(samples.length);
        encodeMulaw(samples, bytes);
        return bytes;
      }
      case 'alaw': {
        const bytes = new Uint8Array(samples.length);
        encodeAlaw(samples, bytes);
        return bytes;
      }
    }
  }
}
