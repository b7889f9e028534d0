import { describe, expect, it } from 'vitest';
import { SoundRefused } from '../../../media/coded/packets.ts';
import { oggPackets } from '../../../media/ogg/ogg-packets.ts';
import { oggPage, opusFile } from '../../support/sound-files.ts';
import { soundVector } from '../../support/sound-vector.ts';

const batches = (...parts: Buffer[]) => [...oggPackets(Buffer.concat(parts))];
const packets = (...parts: Buffer[]) => batches(...parts).flatMap((batch) => batch.packets);

describe('the packets of an Ogg file', () => {
  it('come behind the headers of their stream, whole where they go over pages', () => {
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

  it('belong to a new stream where a chained one begins, also with the same serial number', () => {
    const streams = new Set(batches(opusFile(3), opusFile(2)).map(({ stream }) => stream));
    expect(streams.size).toBe(2);
    expect(packets(opusFile(3), opusFile(2))).toHaveLength(5);
  });

  it('are those of one of the streams that lie side by side', () => {
    const other = oggPage({
      packets: [Buffer.from('\x01vorbis         ')],
      granule: 0n,
      flags: 2,
      serial: 2,
    });
    const [head, ...rest] = [opusFile(3).subarray(0, 47), opusFile(3).subarray(47)];
    expect(packets(head as Buffer, other, ...rest)).toHaveLength(3);
  });

  it('leave out the packet within which a file was cut', () => {
    const file = soundVector('speech.opus');
    const cut = packets(file.subarray(0, 3_000));
    expect(cut.length).toBeGreaterThan(50);
    expect(cut.every(({ length }) => length > 0)).toBe(true);
  });

  it.each([
    ['speech.opus', 'opus', 140],
    ['speech.ogg', 'vorbis', 89],
    ['flac.ogg', 'flac', 6],
  ])('are found as another program wrote them: %s', (name, codec, count) => {
    const found = batches(soundVector(name));
    expect(found[0]?.stream.codec).toBe(codec);
    expect(found.at(-1)?.endSample).toBeGreaterThan(3_000);
    expect(found.flatMap((batch) => batch.packets).length).toBe(count);
  });

  it('are refused where there is no stream of a codec that is decoded', () => {
    const speex = oggPage({ packets: [Buffer.from('Speex   1.2.0')], granule: 0n, flags: 2 });
    expect(() => packets(speex)).toThrow(SoundRefused);
  });
});
