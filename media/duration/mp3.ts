import type { Measured } from './measured.ts';
import { type CodedFrame, walkFrames } from './walk-frames.ts';

/**
 * Bit rates in kbit/s by MPEG version (1, or 2 and 2.5) and layer. Index 0, the free format, is refused; index 15 is invalid.
 */
const BITRATES: Readonly<Record<string, readonly number[]>> = {
  '1/1': [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1/2': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1/3': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2/1': [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2/2': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const RATES_HZ = [44_100, 48_000, 32_000];
/** Divisors of the sample rate by the header's two version bits: MPEG 2.5, invalid, MPEG 2, MPEG 1. */
const RATE_DIVISORS = [4, 0, 2, 1];
const INFO_TAGS = ['Xing', 'Info', 'VBRI'].map((tag) => Buffer.from(tag));

/**
 * Measures MPEG audio of layers 1 to 3 by counting its frames one by one. The count in a Xing or Info frame is not needed, and
 * such a frame is silent.
 */
export const mp3Duration = (bytes: Buffer): Promise<Measured> =>
  walkFrames(bytes, 'MP3', readMp3Frame);

/** Returns the frame at a header of four bytes; undefined unless the whole frame is there. */
export function readMp3Frame(bytes: Buffer, at: number): CodedFrame | undefined {
  if (at + 4 > bytes.length || bytes[at] !== 0xff) return undefined;
  const b1 = bytes[at + 1] as number;
  const b2 = bytes[at + 2] as number;
  if ((b1 & 0xe0) !== 0xe0) return undefined;
  const divisor = RATE_DIVISORS[(b1 >> 3) & 3] as number;
  const layer = 4 - ((b1 >> 1) & 3);
  const baseRateHz = RATES_HZ[(b2 >> 2) & 3];
  if (divisor === 0 || layer === 4 || baseRateHz === undefined) return undefined;
  const isFirst = divisor === 1;
  const kbits = BITRATES[isFirst ? `1/${layer}` : `2/${Math.min(layer, 2)}`]?.[b2 >> 4] ?? 0;
  if (kbits === 0) return undefined;

  const sampleRateHz = baseRateHz / divisor;
  const samples = layer === 1 ? 384 : layer === 3 && !isFirst ? 576 : 1_152;
  const padding = (b2 >> 1) & 1;
  const slot = layer === 1 ? 4 : 1;
  const size = (Math.floor(((samples / 8) * kbits * 1_000) / sampleRateHz / slot) + padding) * slot;
  if (at + size > bytes.length) return undefined;
  const isInfo = layer === 3 && hasInfoTag(bytes.subarray(at, at + Math.min(size, 64)));
  return { bytes: size, samples: isInfo ? 0 : samples, sampleRateHz };
}

const hasInfoTag = (head: Buffer): boolean =>
  INFO_TAGS.some((tag) => {
    const place = head.indexOf(tag);
    // The tag follows the header and, except for VBRI, the side information, whose size depends on the channels.
    return place === 13 || place === 21 || place === 36;
  });
