import { describe, expect, it } from 'vitest';
import { SoundRefused } from '../../../../media/coded/packets.ts';
import { webmPackets } from '../../../../media/webm/webm-packets.ts';
import { soundVector } from '../../../support/sound-vector.ts';

const element = (id: string, content: Buffer | string) => {
  const body = typeof content === 'string' ? Buffer.from(content, 'hex') : content;
  const size = Buffer.alloc(4);
  size.writeUInt32BE((0x10000000 | body.length) >>> 0);
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
};

const track = (codec: string, more = Buffer.alloc(0)) =>
  element(
    'ae',
    Buffer.concat([
      element('d7', '01'),
      element('83', '02'),
      element('86', Buffer.from(codec)),
      more,
    ]),
  );

const file = (entry: Buffer, ...blocks: readonly (readonly [flags: number, content: string])[]) =>
  Buffer.concat([
    element('1a45dfa3', ''),
    element('1654ae6b', entry),
    ...blocks.map(([flags, content]) =>
      element(
        'a3',
        Buffer.concat([Buffer.from([0x81, 0, 0, flags]), Buffer.from(content, 'latin1')]),
      ),
    ),
  ]);

const packets = (bytes: Buffer) =>
  [...webmPackets(bytes)].flatMap((batch) =>
    batch.packets.map((packet) => packet.toString('latin1')),
  );

describe('the packets of a WebM file', () => {
  it('the packets of a WebM file are one a block, or several by each kind of lacing', () => {
    const blocks = [
      [0x80, 'one'],
      // Xiph: sizes 1 and 2 and the rest; fixed: three of two bytes; EBML: 1, one more, and the rest.
      [0x02, '\x02\x01\x02abbccc'],
      [0x04, '\x02aabbcc'],
      [0x06, '\x02\x81\xc0abbccc'],
    ] as const;
    expect(packets(file(track('A_MPEG/L3'), ...blocks))).toEqual([
      'one',
      'a',
      'bb',
      'ccc',
      'aa',
      'bb',
      'cc',
      'a',
      'bb',
      'ccc',
    ]);
  });

  it('the packets of a WebM file leave out blocks with broken lacing and other tracks', () => {
    const broken = file(
      track('A_MPEG/L3'),
      [0x02, '\xff'],
      [0x06, '\x05\x81'],
      [0x06, '\x02\x81\x80a'],
    );
    expect(packets(broken)).toEqual([]);
    const other = element('a3', Buffer.from([0x82, 0, 0, 0x80, 1]));
    expect(packets(Buffer.concat([file(track('A_MPEG/L3')), other]))).toEqual([]);
  });

  it.each([
    ['recorder.webm', 'opus', 140, 1],
    ['vorbis.webm', 'vorbis', 89, 3],
  ])('the packets of another program’s WebM file are found: %s', (name, codec, count, headers) => {
    const batches = [...webmPackets(soundVector(name))];
    expect(batches[0]?.stream).toMatchObject({ codec });
    expect(batches[0]?.stream.setup).toHaveLength(headers);
    expect(batches.flatMap((batch) => batch.packets)).toHaveLength(count);
  });

  it('a WebM file is refused where no track has a supported codec, or the packets are compressed once more', () => {
    const encoded = track('A_OPUS', element('6d80', '00'));
    for (const entry of [track('A_AC3'), track('A_VORBIS'), encoded, Buffer.alloc(0)]) {
      expect(() => packets(file(entry))).toThrow(SoundRefused);
    }
  });
});
