import { describe, expect, it } from 'vitest';
import { hearingFrames } from '../../../media/hearing-frames.ts';
import { rms } from '../../../media/pcm.ts';
import { parseWavSound } from '../../../media/wav-sound.ts';
import { wavFile } from '../../support/sound-files.ts';

/** A second of a 300 Hz tone at any rate, as it is heard. */
function heard(rateHz: number): Int16Array[] {
  const pcm = Int16Array.from(
    { length: rateHz },
    (_, i) => 10_000 * Math.sin((600 * Math.PI * i) / rateHz),
  );
  const wav = parseWavSound(wavFile({ rateHz, data: Buffer.from(pcm.buffer) }));
  if (wav.kind === 'refused') throw new Error(wav.reason);
  return [...hearingFrames(wav)];
}

describe('a file as it is heard', () => {
  it.each([4_000, 8_000, 11_025, 16_000, 44_100, 48_000, 96_000, 192_000])(
    'is a second of frames of 20 ms, just as loud, from %i Hz',
    (rateHz) => {
      const frames = heard(rateHz);
      expect(frames.every(({ length }) => length === 320)).toBe(true);
      expect(Math.abs(frames.length - 50)).toBeLessThanOrEqual(1);
      const loudness = rms(frames[25] as Int16Array);
      expect(loudness).toBeGreaterThan(6_500);
      expect(loudness).toBeLessThan(7_500);
    },
  );

  it('is nothing where there is nothing', () => {
    const wav = parseWavSound(wavFile({ data: new Uint8Array(0) }));
    expect(wav.kind === 'parsed' && [...hearingFrames(wav)]).toEqual([]);
  });
});
