import {
  BATCH_PACKETS,
  type CodedStream,
  type PacketBatch,
  SoundRefused,
} from '../coded/packets.ts';
import { type Box, boxesOf, find, fragmentDefault, uint32 } from './boxes.ts';
import { streamOfEntry } from './sound-entry.ts';

type Track = {
  readonly id: number;
  readonly stream: CodedStream;
  readonly tables: readonly Box[];
};

const MAX_TRACKS = 16;

/**
 * Yields the packets of the first audio track that can be decoded: first the movie's packets, then the packets of its
 * fragments. Throws SoundRefused when there is no such track.
 */
export function* mp4Packets(file: Buffer): Generator<PacketBatch> {
  const top = boxesOf(file);
  const movie = boxesOf(find(top, 'moov'));
  const track = soundTrack(movie);
  if (track === undefined) {
    throw new SoundRefused('The MP4 file has no sound track in AAC, MP3, Opus or FLAC.');
  }
  const { stream } = track;
  let packets: Buffer[] = [];
  for (const packet of packetsOf(file, top, movie, track)) {
    if (packets.push(packet) < BATCH_PACKETS) continue;
    yield { stream, packets };
    packets = [];
  }
  yield { stream, packets };
}

function* packetsOf(
  file: Buffer,
  top: readonly Box[],
  movie: readonly Box[],
  track: Track,
): Generator<Buffer> {
  yield* tabledPackets(file, track.tables);
  const defaults = boxesOf(find(movie, 'mvex')).find(
    ({ type, data }) => type === 'trex' && uint32(data, 4) === track.id,
  );
  const eachBytes = defaults === undefined ? 0 : uint32(defaults.data, 16);
  for (const box of top) {
    if (box.type === 'moof') yield* fragmentPackets(file, box, track.id, eachBytes);
  }
}

function soundTrack(movie: readonly Box[]): Track | undefined {
  for (const { data } of movie.filter(({ type }) => type === 'trak').slice(0, MAX_TRACKS)) {
    const parts = boxesOf(data);
    const media = boxesOf(find(parts, 'mdia'));
    if (find(media, 'hdlr')?.toString('latin1', 8, 12) !== 'soun') continue;
    const tables = boxesOf(find(boxesOf(find(media, 'minf')), 'stbl'));
    const stream = streamOfEntry(find(tables, 'stsd'));
    const head = find(parts, 'tkhd');
    const id = head === undefined ? 0 : uint32(head, head[0] === 1 ? 20 : 12);
    if (stream !== undefined) return { id, stream, tables };
  }
  return undefined;
}

/** Yields the packets of a file with sample tables: the offsets of the chunks, the samples per chunk, and the sample sizes. */
function* tabledPackets(file: Buffer, tables: readonly Box[]): Generator<Buffer> {
  const sizes = find(tables, 'stsz');
  const runs = find(tables, 'stsc');
  const short = find(tables, 'stco');
  const offsets = short ?? find(tables, 'co64');
  if (sizes === undefined || runs === undefined || offsets === undefined) return;
  const width = short === undefined ? 8 : 4;
  const eachBytes = uint32(sizes, 4);
  const samples = uint32(sizes, 8);
  const chunks = Math.min(uint32(offsets, 4), Math.floor((offsets.length - 8) / width));
  let sample = 0;
  let run = 0;
  for (let chunk = 0; chunk < chunks && sample < samples; chunk++) {
    // A run of equal chunks lasts until the next entry's first chunk. Chunks are counted from 1.
    if (8 + (run + 1) * 12 < runs.length && uint32(runs, 8 + (run + 1) * 12) === chunk + 1) run++;
    const entry = 8 + chunk * width;
    let at = width === 4 ? uint32(offsets, entry) : Number(offsets.readBigUInt64BE(entry));
    const inChunk = uint32(runs, 8 + run * 12 + 4);
    for (let i = 0; i < inChunk && sample < samples; i++, sample++) {
      if (eachBytes === 0 && 12 + sample * 4 >= sizes.length) return;
      const bytes = eachBytes || uint32(sizes, 12 + sample * 4);
      if (at + bytes > file.length) break;
      yield file.subarray(at, at + bytes);
      at += bytes;
    }
  }
}

function* fragmentPackets(
  file: Buffer,
  fragment: Box,
  trackId: number,
  movieBytes: number,
): Generator<Buffer> {
  for (const { type, data } of boxesOf(fragment.data)) {
    if (type !== 'traf') continue;
    const parts = boxesOf(data);
    const head = find(parts, 'tfhd');
    if (head === undefined || uint32(head, 4) !== trackId) continue;
    const eachBytes = fragmentDefault(head, 0x10) ?? movieBytes;
    const hasBase = (uint32(head, 0) & 0x01) !== 0 && head.length >= 16;
    const base = hasBase ? Number(head.readBigUInt64BE(8)) : fragment.at;
    let at = base;
    for (const part of parts) {
      if (part.type !== 'trun') continue;
      if ((uint32(part.data, 0) & 0x01) !== 0) at = base + (uint32(part.data, 8) | 0);
      for (const bytes of runSizes(part.data, eachBytes)) {
        if (at < 0 || at + bytes > file.length) return;
        yield file.subarray(at, at + bytes);
        at += bytes;
      }
    }
  }
}

/** Yields the size of each sample of a run. */
function* runSizes(run: Buffer, eachBytes: number): Generator<number> {
  const flags = uint32(run, 0);
  const count = uint32(run, 4);
  const has = (flag: number) => (flags & flag) !== 0;
  const width = [0x100, 0x200, 0x400, 0x800].filter(has).length * 4;
  const sizeAt = has(0x100) ? 4 : 0;
  let at = 8 + (has(0x01) ? 4 : 0) + (has(0x04) ? 4 : 0);
  for (let i = 0; i < count; i++, at += width) {
    if (at + width > run.length) return;
    yield has(0x200) ? uint32(run, at + sizeAt) : eachBytes;
  }
}
