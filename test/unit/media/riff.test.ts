import { describe, expect, it } from 'vitest';
import { dataInFile, isRiffWave, riffChunks } from '../../../media/riff.ts';
import { wavFile } from '../../support/sound-files.ts';

describe('the chunks of a RIFF WAVE file', () => {
  it('the chunks of a RIFF WAVE file are found in their order, whatever size the last one claims', () => {
    const file = wavFile({ data: new Uint8Array(6), claims: 0xffff_fff0 });
    expect(isRiffWave(file)).toBe(true);
    expect([...riffChunks(file)].map(({ name }) => name)).toEqual(['fmt ', 'data']);
    expect(isRiffWave(file.subarray(0, 11))).toBe(false);
  });

  it('at most 64 chunks of a RIFF WAVE file are read', () => {
    const empty = Buffer.concat([Buffer.from('junk'), Buffer.alloc(4)]);
    const file = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), ...Array(1_000).fill(empty)]);
    expect([...riffChunks(file)]).toHaveLength(64);
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
