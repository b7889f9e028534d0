import { describe, expect, it } from 'vitest';
import { mp4Duration } from '../../../../media/duration/mp4.ts';
import { box, mp4File, words } from '../../../support/sound-files.ts';

describe('the duration of an MP4 file', () => {
  it('the duration of an MP4 file is the longest of its headers, its samples and its fragments', () => {
    const ms = [
      mp4File({ movieUnits: 16_000 }),
      mp4File({ trackUnits: 16_000 }),
      mp4File({
        movieUnits: 1,
        trackUnits: 1,
        table: [
          [10, 1_024],
          [1, 5_760],
        ],
      }),
      mp4File({ fragments: [100, 25] }),
    ].map((file) => mp4Duration(file));
    const of = (durationMs: number) => ({ kind: 'measured', durationMs });
    expect(ms).toEqual([of(1_000), of(1_000), of(1_000), of(8_000)]);
  });

  it('the duration of an MP4 file reads the durations that a fragment gives sample by sample', () => {
    const run = box('trun', words(0x301, 2, 0, 8_000, 77, 4_000, 77));
    const fragment = box('moof', box('traf', box('tfhd', words(0, 1)), run));
    expect(mp4Duration(Buffer.concat([mp4File({}), fragment]))).toMatchObject({ durationMs: 750 });
  });

  it('the duration of an MP4 file is refused without sound, without a header, and where no duration is given', () => {
    for (const file of [
      mp4File({ handler: 'vide', movieUnits: 16_000 }),
      box('ftyp'),
      mp4File({}),
      mp4File({ scale: 0, table: [[10, 10]] }),
      mp4File({ movieUnits: 0xffff_ffff }),
    ]) {
      expect(mp4Duration(file)).toMatchObject({ kind: 'refused' });
    }
  });
});
