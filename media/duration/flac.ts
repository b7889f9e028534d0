import { readFlacRate } from '../flac-head.ts';
import { type Measured, measured, refused } from './measured.ts';
import { Steps } from './steps.ts';

/** Samples of a block by its code. For codes 6 and 7 a number follows in the header. */
const FIXED_BLOCKS = [0, 192, 576, 1_152, 2_304, 4_608, 0, 0, 256, 512, 1_024, 2_048];
const RATES_HZ = [
  0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
];

/**
 * Measures FLAC by counting its frames, because the length in STREAMINFO may be wrong or 0. A frame header is recognised by
 * its checksum and by the sample rate of STREAMINFO.
 */
export async function flacDuration(bytes: Buffer): Promise<Measured> {
  const head = readFlacHead(bytes);
  if (head === undefined) return refused('The FLAC file has no whole STREAMINFO.');
  const { rateHz, framesAt } = head;
  let samples = 0;
  const steps = new Steps();
  for (const frame of flacFramesIn(bytes, rateHz, framesAt)) {
    const rest = steps.step();
    if (rest !== undefined) await rest;
    samples += frame?.samples ?? 0;
  }
  return samples > 0 ? measured(samples / rateHz) : refused('The FLAC file holds no frame.');
}

/** Yields each frame with a recognised header and its position; undefined for bytes that only looked like a header. */
export function* flacFramesIn(
  bytes: Buffer,
  rateHz: number,
  framesAt: number,
): Generator<{ readonly at: number; readonly samples: number } | undefined> {
  for (let at = bytes.indexOf(0xff, framesAt); at !== -1; at = bytes.indexOf(0xff, at)) {
    const second = bytes[at + 1];
    const frame = second === 0xf8 || second === 0xf9 ? readFlacFrame(bytes, at, rateHz) : undefined;
    yield frame && { at, samples: frame.samples };
    at += frame?.headBytes ?? 1;
  }
}

/**
 * Upper bound of the metadata blocks that are read. The format has seven kinds of blocks, and a file may have many pictures.
 */
const MAX_BLOCKS = 1_024;

/** Returns the sample rate and the offset of the first frame; undefined when the head is incomplete. */
export function readFlacHead(bytes: Buffer): { rateHz: number; framesAt: number } | undefined {
  const rateHz = readFlacRate(bytes);
  if (rateHz === 0) return undefined;
  let at = 4;
  let isLast = false;
  for (let blocks = 0; blocks < MAX_BLOCKS && !isLast && at + 4 <= bytes.length; blocks++) {
    isLast = ((bytes[at] as number) & 0x80) !== 0;
    at += 4 + bytes.readUIntBE(at + 1, 3);
  }
  return { rateHz, framesAt: at };
}

/** Returns the frame whose header begins at `at`, verified by its checksum; undefined when no header begins there. */
export function readFlacFrame(
  bytes: Buffer,
  at: number,
  streamRateHz: number,
): { readonly samples: number; readonly headBytes: number } | undefined {
  // A header has at most 16 bytes, and a frame is longer than its header.
  if (at + 6 > bytes.length) return undefined;
  const [, , b2 = 0, b3 = 0, first = 0] = bytes.subarray(at, at + 5);
  const blockCode = b2 >> 4;
  const rateCode = b2 & 15;
  const isReserved = (b3 & 1) !== 0 || b3 >> 4 > 10 || ((b3 >> 1) & 7) === 3;
  if (blockCode === 0 || rateCode === 15 || isReserved) return undefined;
  const numberBytes = codedBytes(first);
  if (numberBytes === undefined) return undefined;

  const blockBytes = blockCode === 6 ? 1 : blockCode === 7 ? 2 : 0;
  const rateBytes = rateCode < 12 ? 0 : rateCode === 12 ? 1 : 2;
  const blockAt = at + 4 + numberBytes;
  const rateAt = blockAt + blockBytes;
  const crcAt = rateAt + rateBytes;
  if (crcAt >= bytes.length || crc8(bytes, at, crcAt) !== bytes[crcAt]) return undefined;

  const coded = rateBytes === 0 ? 0 : bytes.readUIntBE(rateAt, rateBytes);
  const rateHz =
    rateCode < 12 ? (RATES_HZ[rateCode] as number) : coded * ([1_000, 1, 10][rateCode - 12] ?? 1);
  if (rateHz !== 0 && rateHz !== streamRateHz) return undefined;
  const samples =
    blockBytes > 0
      ? bytes.readUIntBE(blockAt, blockBytes) + 1
      : (FIXED_BLOCKS[blockCode] ?? 256 << (blockCode - 8));
  return { samples, headBytes: crcAt + 1 - at };
}

/** Returns the length in bytes, up to seven, of a UTF-8-like number by its first byte; undefined when that begins none. */
function codedBytes(first: number): number | undefined {
  const ones = Math.clz32(~(first << 24));
  if (ones === 0) return 1;
  return ones === 1 || ones > 7 ? undefined : ones;
}

const CRC8 = Uint8Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x80) === 0 ? crc << 1 : (crc << 1) ^ 0x07;
  return crc;
});

/** Returns the checksum that ends a frame's header. */
function crc8(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0;
  for (let i = from; i < to; i++) crc = CRC8[crc ^ (bytes[i] as number)] as number;
  return crc;
}
