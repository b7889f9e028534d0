import { describe, expect, it } from 'vitest';
import { HearingFrames } from '../../../media/hearing-frames.ts';
import { rms } from '../../support/rms.ts';

const tone = (rateHz: number) =>
  Int16Array.from({ length: rateHz }, (_, i) => 10_000 * Math.sin((600 * Math.PI * i) / rateHz));

/** A second of a 300 Hz tone at any rate, as it is heard, in blocks of this many samples. */
function heard(rateHz: number, blockSamples = 2_048): Int16Array {
  const sound = tone(rateHz);
  const frames = new HearingFrames();
  const parts: number[] = [];
  for (let at = 0; at < sound.length; at += blockSamples) {
    parts.push(...frames.push({ rateHz, samples: sound.subarray(at, at + blockSamples) }));
    expect(parts.length % 320).toBe(0);
  }
  return Int16Array.from([...parts, ...frames.end()]);
}

describe('a file as it is heard', () => {
  it.each([4_000, 8_000, 11_025, 16_000, 44_100, 48_000, 96_000, 192_000])(
    'a second of sound at %i Hz becomes 50 frames of 20 ms, just as loud',
    (rateHz) => {
      const sound = heard(rateHz);
      expect(sound.length % 320).toBe(0);
      expect(Math.abs(sound.length / 320 - 50)).toBeLessThanOrEqual(1);
      const loudness = rms(sound.subarray(8_000, 8_320));
      expect(loudness).toBeGreaterThan(6_500);
      expect(loudness).toBeLessThan(7_500);
    },
  );

  it.each([8_000, 44_100, 96_000])(
    'hearing frames from %i Hz are the same however the blocks are cut',
    (rateHz) => {
      expect(heard(rateHz, 1_001)).toEqual(heard(rateHz, 40_320));
    },
  );

  it('hearing frames go on where a chained file changes its rate', () => {
    const frames = new HearingFrames();
    const first = frames.push({ rateHz: 8_000, samples: tone(8_000) });
    const second = frames.push({ rateHz: 48_000, samples: tone(48_000) });
    const end = frames.end();
    expect(first.length + second.length + end.length).toBe(32_000);
    expect(rms(second.subarray(8_000, 8_320))).toBeGreaterThan(6_500);
  });

  it('hearing frames of no sound are empty', () => {
    expect(new HearingFrames().end()).toEqual(new Int16Array(0));
  });
});
