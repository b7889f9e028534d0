import { describe, expect, it } from 'vitest';
import { SoundRefused } from '../../../../media/coded/packets.ts';
import { mp4Packets } from '../../../../media/mp4/mp4-packets.ts';
import { box, words } from '../../../support/sound-files.ts';
import { soundVector } from '../../../support/sound-vector.ts';

const entry = (type: string, ...parts: Buffer[]) => {
  const head = Buffer.alloc(28);
  head.writeUInt16BE(1, 16);
  head.writeUInt32BE(16_000 * 65_536, 24);
  return box('stsd', words(0, 1), box(type, head, ...parts));
};

const movie = (...tables: Buffer[]) => {
  const handler = Buffer.concat([words(0, 0), Buffer.from('soun'), words(0)]);
  const media = box('mdia', box('hdlr', handler), box('minf', box('stbl', ...tables)));
  return box('moov', box('trak', box('tkhd', words(0, 0, 0, 1)), media));
};

/** The sound lies behind 12 bytes of `ftyp` and 8 of `mdat`. */
const file = (sound: Buffer, ...boxes: Buffer[]) =>
  Buffer.concat([box('ftyp', Buffer.from('M4A ')), box('mdat', sound), ...boxes]);

const packets = (bytes: Buffer) =>
  [...mp4Packets(bytes)].flatMap((batch) => batch.packets.map(String));
const mp3 = entry('.mp3');

describe('the packets of an MP4 file', () => {
  it('the packets of an MP4 file are found by its tables of chunks and sizes', () => {
    const tables = [
      mp3,
      box('stsz', words(0, 0, 5, 1, 2, 3, 1, 2)),
      // Two samples in the first chunk, three in the second.
      box('stsc', words(0, 2, 1, 2, 1, 2, 3, 1)),
    ];
    const sound = Buffer.from('abb--cccdee');
    const expected = ['a', 'bb', 'ccc', 'd', 'ee'];
    const short = box('stco', words(0, 2, 20, 25));
    expect(packets(file(sound, movie(...tables, short)))).toEqual(expected);
    const long = box('co64', words(0, 2, 0, 20, 0, 25));
    expect(packets(file(sound, movie(...tables, long)))).toEqual(expected);
  });

  it('the packets of an MP4 file may all have one size, and lie in fragments', () => {
    const even = [mp3, box('stsz', words(0, 2, 3)), box('stsc', words(0, 1, 1, 3, 1))];
    const tables = movie(...even, box('stco', words(0, 1, 20)));
    const run = box('trun', words(0x201, 2, 88, 1, 3));
    const fragment = box('moof', box('traf', box('tfhd', words(0x20010, 1, 9)), run));
    const bytes = Buffer.concat([
      file(Buffer.from('aabbcc'), tables),
      fragment,
      box('mdat', Buffer.from('deee')),
    ]);
    const dataAt = bytes.length - 4 - (bytes.length - fragment.length - 12);
    bytes.writeInt32BE(dataAt, bytes.indexOf('trun') + 12);
    expect(packets(bytes)).toEqual(['aa', 'bb', 'cc', 'd', 'eee']);
  });

  it.each([
    ['speech.m4a', 'aac', 45],
    ['fragmented.mp4', 'aac', 121],
    ['opus.mp4', 'opus', 140],
  ])('the packets of another program’s MP4 file are found: %s', (name, codec, count) => {
    const batches = [...mp4Packets(soundVector(name))];
    expect(batches[0]?.stream.codec).toBe(codec);
    expect(batches.flatMap((batch) => batch.packets)).toHaveLength(count);
  });

  it('the packets of an MP4 file end with its bytes where a table promises more', () => {
    const tables = movie(
      mp3,
      box('stsz', words(0, 0, 0xffff_ffff, 2, 2)),
      box('stsc', words(0, 1, 1, 0xffff_ffff, 1)),
      box('stco', words(0, 0xffff_ffff, 20, 0xffff_fff0)),
    );
    expect(packets(file(Buffer.from('aabb'), tables))).toEqual(['aa', 'bb']);
  });

  it('an MP4 file without a track of a supported codec is refused', () => {
    expect(() => packets(file(Buffer.alloc(9), movie(entry('ac-3'))))).toThrow(SoundRefused);
    expect(() => packets(file(Buffer.alloc(9), movie(entry('mp4a'))))).toThrow(
      'AAC, MP3, Opus or FLAC',
    );
    expect(() => packets(Buffer.alloc(9))).toThrow(SoundRefused);
  });
});
