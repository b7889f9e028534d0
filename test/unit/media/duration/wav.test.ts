import { describe, expect, it } from 'vitest';
import { wavDuration } from '../../../../media/duration/wav.ts';
import { wavFile } from '../../../support/sound-files.ts';

describe('the duration of a WAV file', () => {
  it('the duration of a WAV file is that of its actual bytes, whatever its header claims', () => {
    const data = new Uint8Array(48_000);
    for (const claims of [48_000, 1_000_000, 0, 0xffff_ffff]) {
      expect(wavDuration(wavFile({ data, claims }))).toEqual({
        kind: 'measured',
        durationMs: 1_500,
      });
    }
  });

  it('the duration of a WAV file counts every channel and width', () => {
    const data = new Uint8Array(48_000);
    expect(wavDuration(wavFile({ data, channels: 2, bits: 24, rateHz: 8_000 }))).toMatchObject({
      durationMs: 1_000,
    });
    expect(wavDuration(wavFile({ data, tag: 7, bits: 8, rateHz: 8_000 }))).toMatchObject({
      durationMs: 6_000,
    });
  });

  it('the refusal of a WAV file’s duration says what is wrong with the file', () => {
    expect(wavDuration(wavFile({ data: new Uint8Array(4), tag: 0x161 }))).toMatchObject({
      reason: expect.stringContaining('format 353'),
    });
  });
});
