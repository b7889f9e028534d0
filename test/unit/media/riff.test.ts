import { describe, expect, it } from 'vitest';
import { dataInFile, readWave, refused } from '../../../media/riff.ts';
import { wavFile } from '../../support/sound-files.ts';

const read = (file: Uint8Array) =>
  readWave(
    file,
    (claims) => claims,
    ({ blockBytes }) => blockBytes,
  );

describe('the chunks of a RIFF WAVE file', () => {
  it('the chunks of a RIFF WAVE file are found in their order, whatever size the last one claims', () => {
    const file = wavFile({ data: new Uint8Array(6), claims: 0xffff_fff0 });
    expect(read(file)).toMatchObject({ kind: 'parsed', channels: 1, data: { length: 6 } });
    expect(read(file.subarray(0, 11))).toEqual(refused('not a RIFF WAVE file'));
  });

  it('at most 64 chunks of a RIFF WAVE file are read', () => {
    const file = wavFile({ data: new Uint8Array(6) });
    const empty = Buffer.concat([Buffer.from('junk'), Buffer.alloc(4)]);
    const behind = (junk: number) =>
      Buffer.concat([file.subarray(0, 12), ...Array(junk).fill(empty), file.subarray(12)]);
    expect(read(behind(62))).toMatchObject({ kind: 'parsed' });
    expect(read(behind(63))).toEqual(refused('no data chunk'));
    expect(read(behind(1_000))).toEqual(refused('no fmt chunk'));
  });

  it('the data chunk of a RIFF WAVE file gives its whole frames, or the rest of the file where its length is unknown', () => {
    const bytes = new Uint8Array(20);
    const lengths = [8, 7, 100, 0, 0xffff_ffff].map((size) => {
      const { data, truncated } = dataInFile(bytes, { start: 10, size }, 4);
      return [data.length, truncated];
    });
    expect(lengths).toEqual([
      [8, false],
      [4, false],
      [8, true],
      [8, false],
      [8, false],
    ]);
  });
});
