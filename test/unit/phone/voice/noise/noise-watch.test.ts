import { describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../../../../media/mulaw.ts';
import { NoiseWatch } from '../../../../../src/phone/voice/noise/noise-watch.ts';
import { LIBRIVOX, loadRecording, overTelephone } from '../../../../support/speech.ts';

const HZ = 8_000;

/** After how many milliseconds of this sound a line is found noisy; undefined: it is not. */
function noisyAfterMs(pcm: Int16Array): number | undefined {
  const watch = new NoiseWatch({ encoding: 'mulaw', sampleRateHz: HZ });
  const piece = new Uint8Array(160);
  for (let at = 0; at + 160 <= pcm.length; at += 160) {
    encodeMulaw(pcm.subarray(at, at + 160), piece);
    if (watch.isNoisy(piece)) return (at + 160) / 8;
  }
  return undefined;
}

/** White noise of this root mean square. */
function hiss(level: number, seconds: number): Int16Array {
  let state = 1;
  return Int16Array.from({ length: seconds * HZ }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.round((state / 0x7fffffff - 0.5) * 2 * Math.sqrt(3) * level);
  });
}

const DBFS_20 = 3_277;

describe('noise watch', () => {
  it('NoiseWatch finds noise of -20 dBFS after 1.5 s, also behind speech', () => {
    expect(noisyAfterMs(hiss(DBFS_20, 3))).toBe(1_520);
    const [speech] = LIBRIVOX.map(({ file }) => overTelephone(loadRecording(file)));
    const noise = hiss(DBFS_20, (speech?.length ?? 0) / HZ);
    const both = noise.map((sample, i) => sample + (speech?.[i] ?? 0));
    expect(noisyAfterMs(both)).toBeLessThanOrEqual(1_700);
  });

  it('NoiseWatch finds no noise on a line with usual hiss, nor in readers who hardly pause, at twice their level', () => {
    expect(noisyAfterMs(hiss(DBFS_20 / 10, 5))).toBeUndefined();
    for (const { file } of LIBRIVOX) {
      const loud = overTelephone(loadRecording(file)).map((sample) =>
        Math.max(-32_000, Math.min(32_000, 2 * sample)),
      );
      expect(noisyAfterMs(loud), file).toBeUndefined();
    }
  });
});
