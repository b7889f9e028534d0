import { ADTS_RATES_HZ } from '../adts.ts';
import type { Measured } from './measured.ts';
import { type CodedFrame, walkFrames } from './walk-frames.ts';

const HEAD_BYTES = 7;

/** AAC in ADTS: each frame states its length, so they are counted one by one. */
export const adtsDuration = (bytes: Buffer): Promise<Measured> =>
  walkFrames(bytes, 'AAC', readAdtsFrame);

/** The frame of an ADTS header, where there is one and all of it is there. */
export function readAdtsFrame(bytes: Buffer, at: number): CodedFrame | undefined {
  if (at + HEAD_BYTES > bytes.length || bytes[at] !== 0xff) return undefined;
  const [, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0] = bytes.subarray(at, at + HEAD_BYTES);
  const sampleRateHz = ADTS_RATES_HZ[(b2 >> 2) & 15];
  if ((b1 & 0xf6) !== 0xf0 || sampleRateHz === undefined) return undefined;
  const size = ((b3 & 3) << 11) | (b4 << 3) | (b5 >> 5);
  if (size < HEAD_BYTES || at + size > bytes.length) return undefined;
  return { bytes: size, samples: 1_024 * ((b6 & 3) + 1), sampleRateHz };
}
