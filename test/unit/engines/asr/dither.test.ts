import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDither } from '../../../../src/engines/asr/dither.ts';

describe('dither', () => {
  it('dither leaves no run of digital silence, on which the recogniser would trap', () => {
    const pcm = new Int16Array(16_000);
    createDither(1)(pcm);
    expect(new Set(pcm)).toEqual(new Set([-2, -1, 0, 1, 2]));
  });

  it('dither changes a sample by two steps at most and never wraps round', () => {
    fc.assert(
      fc.property(fc.int16Array({ minLength: 1 }), fc.nat(), (sound, seed) => {
        const noisy = sound.slice();
        createDither(seed)(noisy);
        for (const [i, sample] of noisy.entries()) {
          expect(Math.abs(sample - (sound[i] as number))).toBeLessThanOrEqual(2);
        }
      }),
    );
  });

  it('dither is the same for the same seed', () => {
    const [a, b, other] = [new Int16Array(100), new Int16Array(100), new Int16Array(100)];
    createDither(7)(a);
    createDither(7)(b);
    createDither(8)(other);
    expect(a).toEqual(b);
    expect(a).not.toEqual(other);
  });
});
