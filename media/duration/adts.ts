import { ADTS_RATES_HZ } from '../adts.ts';
import type { Measured } from './measured.ts';
import { type CodedFrame, walkFrames } from './walk-frames.ts';

const HEAD_BYTES = 7;

/** Measures the duration of AAC in ADTS. Each frame states its length, so the frames are counted one by one. */
export const adtsDuration = (bytes: Buffer): Promise<Measured> =>
  walkFrames(bytes, 'AAC', readAdtsFrame);

/** Returns the frame at an ADTS header; undefined unless the whole frame is there. */
export function readAdtsFrame(bytes: Buffer, at: number): CodedFrame | undefined {
  if (at + HEAD_BYTES > bytes.length || bytes[at] !== 0xff) return undefined;
  const [, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0] = bytes.subarray(at, at + HEAD_BYTES);
  const sampleRateHz = ADTS_RATES_HZ[(b2 >> 2) & 15];
  if ((b1 & 0xf6) !== 0xf0 || sampleRateHz === undefined) return undefined;
  const size = ((b3 & 3) << 11) | (b4 << 3) | (b5 >> 5);
  if (size < HEAD_BYTES || at + size > bytes.length) return undefined;
  return { bytes: size, samples: 1_024 * ((b6 & 3) + 1), sampleRateHz };
}
