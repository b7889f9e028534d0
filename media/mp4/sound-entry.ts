import type { CodedStream } from '../coded/packets.ts';
import { boxesOf, find, uint32 } from './boxes.ts';

/** Bytes of a sound sample entry before its child boxes, by the entry's QuickTime version. */
const ENTRY_BYTES = [28, 44, 64];
/** Object type numbers in the decoder descriptor of an `esds` box, by codec. */
const OBJECT_TYPE = { aac: [0x40, 0x66, 0x67, 0x68], mp3: [0x69, 0x6b] };
const OPUS_HEAD_BYTES = 11;

/** Reads the sample description of a track. Returns undefined when no decoder here supports its codec. */
export function streamOfEntry(description: Buffer | undefined): CodedStream | undefined {
  const [entry] = boxesOf(description?.subarray(8));
  if (entry === undefined || entry.data.length < 28) return undefined;
  const { data, type } = entry;
  const sound = {
    rateHz: uint32(data, 24) >>> 16,
    channels: data.readUInt16BE(16),
    skippedSamples: 0,
  };
  const parts = boxesOf(data.subarray(ENTRY_BYTES[data.readUInt16BE(8)] ?? 28));
  switch (type) {
    case 'mp4a': {
      const esds = find(parts, 'esds') ?? find(boxesOf(find(parts, 'wave')), 'esds');
      const coded = esds && readDescriptors(esds.subarray(4));
      return coded && { ...sound, ...coded };
    }
    case '.mp3':
      return { ...sound, codec: 'mp3', setup: [] };
    case 'Opus': {
      const head = find(parts, 'dOps');
      if (head === undefined || head.length < OPUS_HEAD_BYTES) return undefined;
      return {
        codec: 'opus',
        rateHz: 48_000,
        channels: head[1] as number,
        setup: [opusHead(head)],
        skippedSamples: head.readUInt16BE(2),
      };
    }
    case 'fLaC': {
      const blocks = find(parts, 'dfLa')?.subarray(4);
      return blocks && { ...sound, codec: 'flac', setup: [withFlacMark(blocks)] };
    }
    default:
      return undefined;
  }
}

/** Converts a `dOps` box, whose numbers are big-endian, to the head of an Ogg Opus stream. */
function opusHead(dOps: Buffer): Buffer {
  const head = Buffer.concat([Buffer.from('OpusHead'), dOps]);
  head[8] = 1;
  head.writeUInt16LE(dOps.readUInt16BE(2), 10);
  head.writeUInt32LE(dOps.readUInt32BE(4), 12);
  head.writeInt16LE(dOps.readInt16BE(8), 16);
  return head;
}

const withFlacMark = (blocks: Buffer): Buffer => Buffer.concat([Buffer.from('fLaC'), blocks]);

/** Reads nested descriptors: stream (3), decoder (4), decoder setup (5). */
function readDescriptors(bytes: Buffer): Pick<CodedStream, 'codec' | 'setup'> | undefined {
  let at = 0;
  let objectType: number | undefined;
  for (let depth = 0; depth < 8 && at < bytes.length; depth++) {
    const tag = bytes[at++];
    let size = 0;
    for (let i = 0; i < 4; i++) {
      const byte = bytes[at++] ?? 0;
      size = (size << 7) | (byte & 0x7f);
      if ((byte & 0x80) === 0) break;
    }
    if (tag === 3) at += 3 + streamExtras(bytes[at + 2] ?? 0, bytes[at + 3] ?? 0);
    else if (tag === 4) {
      objectType = bytes[at];
      at += 13;
    } else if (tag === 5 && objectType !== undefined && OBJECT_TYPE.aac.includes(objectType)) {
      return { codec: 'aac', setup: [bytes.subarray(at, at + size)] };
    } else at += size;
  }
  const isMp3 = objectType !== undefined && OBJECT_TYPE.mp3.includes(objectType);
  return isMp3 ? { codec: 'mp3', setup: [] } : undefined;
}

/** Returns the bytes of the optional parts of a stream's descriptor: a dependency, an address, a clock. */
const streamExtras = (flags: number, addressBytes: number): number =>
  ((flags & 0x80) === 0 ? 0 : 2) +
  ((flags & 0x40) === 0 ? 0 : 1 + addressBytes) +
  ((flags & 0x20) === 0 ? 0 : 2);
