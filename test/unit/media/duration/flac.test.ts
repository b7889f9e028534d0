import { describe, expect, it } from 'vitest';
import { flacDuration, readFlacFrame } from '../../../../media/duration/flac.ts';
import { flacFile, flacFrame, flacFrameOf } from '../../../support/sound-files.ts';

/** A frame whose header these hex digits are. */
const header = (hex: string) => flacFrameOf(Buffer.from(hex, 'hex'));

describe('the duration of a FLAC file', () => {
  it('the duration of a FLAC file is that of its actual frames, whatever STREAMINFO claims', async () => {
    for (const claimed of [0, 1, 40_960, 4_000_000]) {
      expect(await flacDuration(flacFile(10, claimed))).toEqual({
        kind: 'measured',
        durationMs: 2_560,
      });
    }
  });

  it('the duration of a FLAC file does not count a header whose checksum is wrong', async () => {
    const file = flacFile(10);
    file[42 + 5] = (file[47] as number) ^ 1;
    expect(await flacDuration(file)).toMatchObject({ durationMs: 2_304 });
  });

  it('the duration of a FLAC file without a whole STREAMINFO is refused', async () => {
    expect(await flacDuration(flacFile(10).subarray(0, 41))).toMatchObject({ kind: 'refused' });
  });
});

describe('the header of a FLAC frame', () => {
  it.each([
    ['fff8c50800', 4_096],
    ['fff8150800', 192],
    ['fff96508 00 63', 100],
    ['fff87508 00 03e7', 1_000],
    // The rate in hertz, and a number of two bytes.
    ['fff8cd08 c280 3e80', 4_096],
  ])('the FLAC frame header %s gives its samples', (hex, samples) => {
    const bytes = header(hex.replaceAll(' ', ''));
    expect(readFlacFrame(bytes, 0, 16_000)?.samples).toBe(samples);
  });

  it.each([
    'fff8050800',
    'fff8cf0800',
    'fff8c50900',
    'fff8c5b800',
    'fff8c58600',
    'fff8c90800',
    'fff8c50880',
  ])('the bytes %s are no FLAC frame header, or none of this stream', (hex) =>
    expect(readFlacFrame(header(hex), 0, 16_000)).toBeUndefined(),
  );

  it('a FLAC frame header that is cut by the end of the file is not read', async () => {
    for (let length = 0; length < 6; length++) {
      expect(readFlacFrame(flacFrame(0).subarray(0, length), 0, 16_000)).toBeUndefined();
    }
  });
});
