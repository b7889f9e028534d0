import { expect, it } from 'vitest';
import { flacPackets, framePackets } from '../../../../media/coded/frame-packets.ts';
import { SoundRefused } from '../../../../media/coded/packets.ts';
import * as files from '../../../support/sound-files.ts';

const all = (batches: Iterable<{ readonly packets: readonly Buffer[] }>) =>
  [...batches].map(({ packets }) => packets);

it('frames of MP3 and AAC come whole, in batches, without the bytes between them', () => {
  const file = Buffer.concat([
    files.id3(200),
    files.mp3File(40),
    Buffer.alloc(99),
    files.mp3File(2),
  ]);
  const batches = all(framePackets(file, 'mp3'));
  expect(batches.map(({ length }) => length)).toEqual([32, 10]);
  expect(batches.flat().every((frame) => frame.equals(files.mp3Frame()))).toBe(true);
  expect(all(framePackets(files.adtsFile(3), 'aac')).flat()).toEqual(
    Array.from({ length: 3 }, files.adtsFrame),
  );
});

it('a frame of FLAC ends where the next one begins, and the last one with the file', () => {
  expect(all(flacPackets(files.flacFile(3))).flat()).toEqual([0, 1, 2].map(files.flacFrame));
  expect(all(flacPackets(files.flacFile(0)))).toEqual([[]]);
  expect(() => all(flacPackets(Buffer.from('fLaC')))).toThrow(SoundRefused);
});
