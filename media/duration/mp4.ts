import { type Box, boxesOf, find, fragmentDefault, uint32 } from '../mp4/boxes.ts';
import { type Measured, measured, refused } from './measured.ts';

const MAX_TRACKS = 16;

/**
 * Measures MP4 and M4A: the longest of the durations in the movie header, the sound track's header, its sample table and its
 * fragments. Each duration has its own time scale.
 */
export function mp4Duration(bytes: Buffer): Measured {
  const top = boxesOf(bytes);
  const movie = find(top, 'moov');
  if (movie === undefined) return refused('The MP4 file has no movie box.');
  const parts = boxesOf(movie);
  const sound = parts
    .filter(({ type }) => type === 'trak')
    .slice(0, MAX_TRACKS)
    .map(({ data }) => readTrack(data))
    .filter((track) => track.isSound);
  if (sound.length === 0) return refused('The MP4 file has no sound track.');

  let seconds = headSeconds(find(parts, 'mvhd'));
  for (const track of sound) {
    const units = track.samplesUnits + fragmentUnits(top, parts, track.id);
    seconds = Math.max(seconds, track.headSeconds, units / track.scale);
  }
  return seconds > 0 && Number.isFinite(seconds)
    ? measured(seconds)
    : refused('The MP4 file states no duration.');
}

function readTrack(data: Buffer) {
  const parts = boxesOf(data);
  const media = boxesOf(find(parts, 'mdia'));
  const samples = boxesOf(find(boxesOf(find(media, 'minf')), 'stbl'));
  const head = find(media, 'mdhd');
  const trackHead = find(parts, 'tkhd');
  return {
    isSound: find(media, 'hdlr')?.toString('latin1', 8, 12) === 'soun',
    id: trackHead === undefined ? 0 : uint32(trackHead, trackHead[0] === 1 ? 20 : 12),
    scale: scaleOf(head),
    headSeconds: headSeconds(head),
    samplesUnits: tableUnits(find(samples, 'stts')),
  };
}

/** Returns the time scale of an `mvhd` or `mdhd` box. Both begin alike; version 1 has times of 64 bits. */
const scaleOf = (head: Buffer | undefined): number =>
  head === undefined ? 0 : uint32(head, head[0] === 1 ? 20 : 12);

function headSeconds(head: Buffer | undefined): number {
  if (head === undefined) return 0;
  const isLong = head[0] === 1;
  const scale = scaleOf(head);
  if (scale === 0 || head.length < (isLong ? 32 : 20)) return 0;
  const units = isLong ? Number(head.readBigUInt64BE(24)) : head.readUInt32BE(16);
  // All ones mean an unknown duration.
  return units >= 0xffff_ffff ? 0 : units / scale;
}

/** Returns the sum of the durations of all samples. The table lists them in runs. */
function tableUnits(table: Buffer | undefined): number {
  if (table === undefined) return 0;
  let units = 0;
  for (let at = 8; at + 8 <= table.length; at += 8) {
    units += table.readUInt32BE(at) * table.readUInt32BE(at + 4);
  }
  return units;
}

function fragmentUnits(top: readonly Box[], movie: readonly Box[], trackId: number): number {
  const defaults = boxesOf(find(movie, 'mvex'))
    .filter(({ type, data }) => type === 'trex' && uint32(data, 4) === trackId)
    .map(({ data }) => uint32(data, 12));
  let units = 0;
  for (const fragment of top.filter(({ type }) => type === 'moof')) {
    for (const run of boxesOf(fragment.data).filter(({ type }) => type === 'traf')) {
      const parts = boxesOf(run.data);
      const head = find(parts, 'tfhd');
      if (head === undefined || uint32(head, 4) !== trackId) continue;
      const each = fragmentDefault(head, 0x08) ?? defaults[0] ?? 0;
      for (const { type, data } of parts) if (type === 'trun') units += runUnits(data, each);
    }
  }
  return units;
}

function runUnits(run: Buffer, each: number): number {
  const flags = uint32(run, 0);
  const count = uint32(run, 4);
  if ((flags & 0x100) === 0) return count * each;
  const width = [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length * 4;
  let at = 8 + ((flags & 0x01) === 0 ? 0 : 4) + ((flags & 0x04) === 0 ? 0 : 4);
  let units = 0;
  for (let i = 0; i < count && at + width <= run.length; i++, at += width) {
    units += run.readUInt32BE(at);
  }
  return units;
}
