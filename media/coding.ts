/** Codings of samples of mono sound: on a socket, on a telephone line, in a file. */
import { decodeAlaw, encodeAlaw } from './alaw.ts';
import { decodeMulaw, encodeMulaw } from './mulaw.ts';
import { PcmByteReader, writePcmBytes } from './pcm.ts';

export const SOUND_CODINGS = ['linear16', 'mulaw', 'alaw'] as const;

export type SoundCoding = (typeof SOUND_CODINGS)[number];

export const bytesPerSample = (coding: SoundCoding): 1 | 2 => (coding === 'linear16' ? 2 : 1);

/** Decodes the bytes of one stream, cut anywhere, to samples. */
export class SoundReader {
  readonly #coding: SoundCoding;
  readonly #halves = new PcmByteReader();

  constructor(coding: SoundCoding) {
    this.#coding = coding;
  }

  /** Returns the number of samples that the next `byteCount` bytes complete: the least length of the target of `push`. */
  samplesIn(byteCount: number): number {
    return this.#coding === 'linear16' ? this.#halves.samplesIn(byteCount) : byteCount;
  }

  /** Writes every completed sample into the front of `target` and returns how many it wrote. */
  push(bytes: Uint8Array, target: Int16Array): number {
    switch (this.#coding) {
      case 'linear16':
        return this.#halves.push(bytes, target);
      case 'mulaw':
        return decodeMulaw(bytes, target);
      case 'alaw':
        return decodeAlaw(bytes, target);
    }
  }

  /** Discards the first byte of a sample whose second byte has not arrived. */
  reset(): void {
    this.#halves.reset();
  }
}

/** Encodes samples into the front of `target`, which must be long enough for their coding. */
export function writeSound(coding: SoundCoding, samples: Int16Array, target: Uint8Array): void {
  switch (coding) {
    case 'linear16':
      writePcmBytes(samples, target);
      return;
    case 'mulaw':
      encodeMulaw(samples, target);
      return;
    case 'alaw':
      encodeAlaw(samples, target);
      return;
  }
}

/** Encoding and sample rate of mono sound on one side of a connection. */
export type SoundFormat = { readonly encoding: SoundCoding; readonly sampleRateHz: number };

export const bytesPerMs = ({ encoding, sampleRateHz }: SoundFormat): number =>
  (bytesPerSample(encoding) * sampleRateHz) / 1_000;

/** Returns the byte that encodes silence. */
export const silenceOf = ({ encoding }: SoundFormat): number =>
  ({ linear16: 0x00, mulaw: 0xff, alaw: 0xd5 })[encoding];
