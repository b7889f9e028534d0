import { describe, expect, it } from 'vitest';
import { SoundRefused } from '../../../media/coded/packets.ts';
import { oggPackets } from '../../../media/ogg/ogg-packets.ts';
import { oggPage, opusFile } from '../../support/sound-files.ts';
import { soundVector } from '../../support/sound-vector.ts';

const batches = (...parts: Buffer[]) => [...oggPackets(Buffer.concat(parts))];
const packets = (...parts: Buffer[]) => batches(...parts).flatMap((batch) => batch.packets);

describe('the packets of an Ogg file', () => {
  it('the packets of an Ogg file come after its headers, whole where they span pages', () => {
    const long = Buffer.alloc(600, 7);
    const first = oggPage({ packets: [long.subarray(0, 510)], granule: 0n });
    // The last segment of the page says that the packet goes on.
    first[26] = 2;
    const goesOn = Buffer.concat([first.subarray(0, 29), first.subarray(30)]);
    const end = oggPage({ packets: [long.subarray(510), Buffer.from('x')], granule: 0n, flags: 1 });
    expect(packets(opusFile(2), goesOn, end)).toEqual([
      Buffer.from([8, 1, 2]),
      Buffer.from([8, 1, 2]),
      long,
      Buffer.from('x'),
    ]);
  });

  it('the packets of a chained Ogg stream belong to a new stream, also with the same serial number', () => {
    const streams = new Set(batches(opusFile(3), opusFile(2)).map(({ stream }) => stream));
    expect(streams.size).toBe(2);
    expect(packets(opusFile(3), opusFile(2))).toHaveLength(5);
  });

  it('the packets of an Ogg file with parallel streams are those of one stream', () => {
    const other = oggPage({
      packets: [Buffer.from('\x01vorbis         ')],
      granule: 0n,
      flags: 2,
      serial: 2,
    });
    const [head, ...rest] = [opusFile(3).subarray(0, 47), opusFile(3).subarray(47)];
    expect(packets(head as Buffer, other, ...rest)).toHaveLength(3);
  });

  it('the packets of a cut Ogg file leave out the packet within which the file was cut', () => {
    const file = soundVector('speech.opus');
    const cut = packets(file.subarray(0, 3_000));
    expect(cut.length).toBeGreaterThan(50);
    expect(cut.every(({ length }) => length > 0)).toBe(true);
  });

  it.each([
    ['speech.opus', 'opus', 140],
    ['speech.ogg', 'vorbis', 89],
    ['flac.ogg', 'flac', 6],
  ])('the packets of another program’s Ogg file are found: %s', (name, codec, count) => {
    const found = batches(soundVector(name));
    expect(found[0]?.stream.codec).toBe(codec);
    expect(found.at(-1)?.endSample).toBeGreaterThan(3_000);
    expect(found.flatMap((batch) => batch.packets).length).toBe(count);
  });

  it('an Ogg file without a stream of a supported codec is refused', () => {
    const speex = oggPage({ packets: [Buffer.from('Speex   1.2.0')], granule: 0n, flags: 2 });
    expect(() => packets(speex)).toThrow(SoundRefused);
  });
});
