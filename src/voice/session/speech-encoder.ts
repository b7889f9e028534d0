import { encodeAlaw } from '../../../media/alaw.ts';
import type { SoundFormat } from '../../../media/coding.ts';
import { encodeMulaw } from '../../../media/mulaw.ts';
import { writePcmBytes } from '../../../media/pcm.ts';
import { Resampler } from '../../../media/resample.ts';
import { VOICE_LIMITS } from '../limits.ts';

/** Audio deltas of one piece of speech. Each delta is encoded when the reader takes it. */
export interface SpeechDeltas {
  readonly isOver: boolean;
  /** Returns the next delta, which may be empty. The next delta of any encoder overwrites its bytes: copy those to keep. */
  next(): Uint8Array;
}

const NO_BYTES = new Uint8Array(0);
const NONE: SpeechDeltas = { isOver: true, next: () => NO_BYTES };
/**
 * Buffers that all sessions share. A new buffer per delta would survive V8's young generation while the delta is played, and V8
 * would collect the old generation early: every 26 s in a process of 600 calls (docs/decisions/0074).
 */
let samples = new Int16Array(0);
let encoded = new Uint8Array(0);

/** Turns synthesised speech into deltas of the client's format, each at most `VOICE_LIMITS.speechDeltaMs` long. */
export class SpeechEncoder {
  readonly #format: SoundFormat;
  #resampler: Resampler | undefined;

  constructor(format: SoundFormat) {
    this.#format = format;
  }

  /** Encodes a piece of a sentence. The samples that resampling keeps back follow with the next piece. */
  piece(pcm: Int16Array, sampleRateHz: number): SpeechDeltas {
    if (this.#resampler?.fromHz !== sampleRateHz) {
      this.#resampler = new Resampler(sampleRateHz, this.#format.sampleRateHz);
    }
    return new Piece(this, pcm, Math.floor((sampleRateHz * VOICE_LIMITS.speechDeltaMs) / 1_000));
  }

  /** Returns the deltas that resampling still holds back, and resets the resampler for the next sentence. */
  end(): SpeechDeltas {
    const resampler = this.#resampler;
    if (resampler === undefined || resampler.lookaheadSamples === 0) return NONE;
    return new Piece(this, undefined, resampler.lookaheadSamples);
  }

  /** Encodes `input`. With undefined, encodes the samples that resampling holds back. */
  encode(input: Int16Array | undefined): Uint8Array {
    const resampler = this.#resampler;
    if (resampler === undefined) return NO_BYTES;
    const most = resampler.outputSamples(input?.length ?? resampler.lookaheadSamples);
    if (samples.length < most) samples = new Int16Array(most);
    const count = input === undefined ? resampler.flush(samples) : resampler.push(input, samples);
    return encodeSamples(this.#format, samples.subarray(0, count));
  }
}

class Piece implements SpeechDeltas {
  readonly #encoder: SpeechEncoder;
  readonly #pcm: Int16Array | undefined;
  readonly #step: number;
  #at = 0;

  constructor(encoder: SpeechEncoder, pcm: Int16Array | undefined, step: number) {
    this.#encoder = encoder;
    this.#pcm = pcm;
    this.#step = step;
  }

  get isOver(): boolean {
    return this.#at >= (this.#pcm?.length ?? this.#step);
  }

  next(): Uint8Array {
    const from = this.#at;
    this.#at += this.#step;
    return this.#encoder.encode(this.#pcm?.subarray(from, this.#at));
  }
}

function encodeSamples({ encoding }: SoundFormat, from: Int16Array): Uint8Array {
  const length = encoding === 'linear16' ? from.length * 2 : from.length;
  if (encoded.length < length) encoded = new Uint8Array(length);
  const bytes = encoded.subarray(0, length);
  switch (encoding) {
    case 'linear16':
      writePcmBytes(from, bytes);
      break;
    case 'mulaw':
      encodeMulaw(from, bytes);
      break;
    case 'alaw':
      encodeAlaw(from, bytes);
      break;
  }
  return bytes;
}
