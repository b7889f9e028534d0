import { readAdtsFrame } from '../duration/adts.ts';
import { flacFramesIn, readFlacHead } from '../duration/flac.ts';
import { readMp3Frame } from '../duration/mp3.ts';
import { framesIn } from '../duration/walk-frames.ts';
import { BATCH_PACKETS, type CodedStream, type PacketBatch, SoundRefused } from './packets.ts';

/** Yields the frames of a file without a container: MP3, or AAC whose frames have ADTS headers. */
export function* framePackets(file: Buffer, codec: 'aac' | 'mp3'): Generator<PacketBatch> {
  const stream: CodedStream = { codec, rateHz: 0, channels: 0, setup: [], skippedSamples: 0 };
  let packets: Buffer[] = [];
  for (const walked of framesIn(file, codec === 'mp3' ? readMp3Frame : readAdtsFrame)) {
    if (typeof walked === 'number') continue;
    packets.push(file.subarray(walked.at, walked.at + walked.frame.bytes));
    if (packets.length < BATCH_PACKETS) continue;
    yield { stream, packets };
    packets = [];
  }
  yield { stream, packets };
}

/**
 * Yields the frames of a FLAC file. Each frame ends at the header of the next frame. Throws SoundRefused without a complete
 * STREAMINFO.
 */
export function* flacPackets(file: Buffer): Generator<PacketBatch> {
  const head = readFlacHead(file);
  if (head === undefined) throw new SoundRefused('The FLAC file has no whole STREAMINFO.');
  const { framesAt, rateHz } = head;
  const setup = [file.subarray(0, framesAt)];
  const stream: CodedStream = { codec: 'flac', rateHz, channels: 0, setup, skippedSamples: 0 };
  let packets: Buffer[] = [];
  let from: number | undefined;
  for (const frame of flacFramesIn(file, rateHz, framesAt)) {
    if (frame === undefined) continue;
    if (from !== undefined) packets.push(file.subarray(from, frame.at));
    from = frame.at;
    if (packets.length < BATCH_PACKETS) continue;
    yield { stream, packets };
    packets = [];
  }
  if (from !== undefined) packets.push(file.subarray(from));
  yield { stream, packets };
}
