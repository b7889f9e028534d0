import {
  BATCH_PACKETS,
  type CodedStream,
  type PacketBatch,
  SoundRefused,
} from '../coded/packets.ts';
import { childrenOf, elementsIn, float, readNumber, unsigned } from './elements.ts';

const TRACKS = 0x1654ae6b;
const TRACK_ENTRY = 0xae;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const ID = {
  number: 0xd7,
  type: 0x83,
  codec: 0x86,
  setup: 0x63a2,
  encodings: 0x6d80,
  audio: 0xe1,
  rateHz: 0xb5,
  channels: 0x9f,
} as const;
const SOUND = 2;

type Track = { readonly number: number; readonly stream: CodedStream };

/** Yields the packets of the first audio track that can be decoded. */
export function* webmPackets(file: Buffer): Generator<PacketBatch> {
  let track: Track | undefined;
  let packets: Buffer[] = [];
  for (const element of elementsIn(file)) {
    if (element?.id === TRACKS && track === undefined) {
      track = soundTrack(file.subarray(element.start, element.end));
    }
    if (element === undefined || track === undefined) continue;
    if (element.id !== SIMPLE_BLOCK && element.id !== BLOCK) continue;
    packets.push(...blockPackets(file.subarray(element.start, element.end), track.number));
    if (packets.length < BATCH_PACKETS) continue;
    yield { stream: track.stream, packets };
    packets = [];
  }
  if (track === undefined) {
    throw new SoundRefused('The WebM file has no sound track in Opus, Vorbis, AAC, FLAC or MP3.');
  }
  yield { stream: track.stream, packets };
}

function soundTrack(tracks: Buffer): Track | undefined {
  for (const element of elementsIn(tracks)) {
    if (element?.id !== TRACK_ENTRY) continue;
    const entry = childrenOf(tracks.subarray(element.start, element.end));
    // Tracks whose packets are compressed or encrypted once more (ContentEncodings) are not supported.
    if (unsigned(entry.get(ID.type) ?? NONE) !== SOUND || entry.has(ID.encodings)) continue;
    const stream = streamOf(entry);
    if (stream !== undefined) return { number: unsigned(entry.get(ID.number) ?? NONE), stream };
  }
  return undefined;
}

const NONE = Buffer.alloc(0);

function streamOf(entry: ReadonlyMap<number, Buffer>): CodedStream | undefined {
  const audio = childrenOf(entry.get(ID.audio) ?? NONE);
  const setup = entry.get(ID.setup) ?? NONE;
  const sound = {
    rateHz: Math.round(float(audio.get(ID.rateHz) ?? NONE)) || 8_000,
    channels: unsigned(audio.get(ID.channels) ?? NONE) || 1,
    skippedSamples: 0,
    setup: [setup],
  };
  switch (entry.get(ID.codec)?.toString('latin1').replaceAll('\0', '')) {
    case 'A_OPUS': {
      const skippedSamples = setup.length < 12 ? 0 : setup.readUInt16LE(10);
      return { ...sound, codec: 'opus', rateHz: 48_000, skippedSamples };
    }
    case 'A_VORBIS': {
      const headers = vorbisHeaders(setup);
      return headers && { ...sound, codec: 'vorbis', setup: headers };
    }
    case 'A_AAC':
      return { ...sound, codec: 'aac' };
    case 'A_FLAC':
      return { ...sound, codec: 'flac' };
    case 'A_MPEG/L3':
      return { ...sound, codec: 'mp3', setup: [] };
    default:
      return undefined;
  }
}

/** Splits the setup of a Vorbis track into its three header packets. The lengths of the first two precede them. */
function vorbisHeaders(setup: Buffer): Buffer[] | undefined {
  const sizes = xiphSizes(setup, 1, setup[0] ?? 0);
  return setup[0] === 2 && sizes !== undefined ? cut(setup, sizes.at, sizes.sizes) : undefined;
}

function blockPackets(block: Buffer, track: number): Buffer[] {
  const number = readNumber(block, 0, 8, true);
  if (number === undefined || number.value !== track || block.length < number.bytes + 3) return [];
  const lacing = ((block[number.bytes + 2] as number) >> 1) & 3;
  const at = number.bytes + 3;
  if (lacing === 0) return [block.subarray(at)];
  const more = block[at] ?? 0;
  if (lacing === 2) {
    const each = Math.floor((block.length - at - 1) / (more + 1));
    return cut(block, at + 1, Array<number>(more).fill(each));
  }
  const sizes = lacing === 1 ? xiphSizes(block, at + 1, more) : ebmlSizes(block, at + 1, more);
  return sizes === undefined ? [] : cut(block, sizes.at, sizes.sizes);
}

type Sizes = { readonly sizes: readonly number[]; readonly at: number };

/** Reads `count` sizes in Xiph lacing: each size is a sum of bytes that ends with the first byte below 255. */
function xiphSizes(bytes: Buffer, from: number, count: number): Sizes | undefined {
  const sizes: number[] = [];
  let at = from;
  for (let i = 0; i < count; i++) {
    let size = 0;
    for (; bytes[at] === 255; at++) size += 255;
    const last = bytes[at++];
    if (last === undefined) return undefined;
    sizes.push(size + last);
  }
  return { sizes, at };
}

/**
 * Reads sizes in EBML lacing: the first size is a number, each further size a difference from the size before. Undefined when a
 * size is invalid.
 */
function ebmlSizes(bytes: Buffer, from: number, count: number): Sizes | undefined {
  const sizes: number[] = [];
  let at = from;
  let size = 0;
  for (let i = 0; i < count; i++) {
    const number = readNumber(bytes, at, 8, true);
    if (number === undefined) return undefined;
    at += number.bytes;
    size += i === 0 ? number.value : number.value - (2 ** (7 * number.bytes - 1) - 1);
    if (size < 0) return undefined;
    sizes.push(size);
  }
  return { sizes, at };
}

/** Returns parts of these sizes, and the remaining bytes as the last part. */
function cut(bytes: Buffer, from: number, sizes: readonly number[]): Buffer[] {
  const parts: Buffer[] = [];
  let at = from;
  for (const size of sizes) {
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...parts, bytes.subarray(at)];
}
