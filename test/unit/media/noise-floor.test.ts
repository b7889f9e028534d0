import { describe, expect, it } from 'vitest';
import { NoiseFloor } from '../../../media/noise-floor.ts';
import { energy } from '../../../media/pcm.ts';
import { noise } from './noise.ts';

/** How many of the next `frames` stand out on a line with this loudness. */
function standing(floor: NoiseFloor, loudness: number, frames: number): number {
  let count = 0;
  for (let i = 0; i < frames; i++) {
    if (floor.standsOut(energy(noise(160, loudness, i + 1)))) count++;
  }
  return count;
}

describe('the noise floor', () => {
  it('the noise floor never lets the comfort noise of a telephone line count as speech', () => {
    for (const loudness of [0, 4, 15, 40]) {
      expect(standing(new NoiseFloor(), loudness, 500)).toBe(0);
    }
  });

  it('the noise floor adapts to any steady noise within 3 seconds', () => {
    for (const loudness of [200, 1_000, 5_000]) {
      const floor = new NoiseFloor();
      standing(floor, 0, 250);
      expect(standing(floor, loudness, 25)).toBe(25);
      standing(floor, loudness, 125);
      expect(standing(floor, loudness, 500)).toBe(0);
    }
  });

  it('the noise floor lets speech stand out from noise at half its loudness, from the first frame of a call', () => {
    expect(standing(new NoiseFloor(), 1_500, 20)).toBe(20);
    const floor = new NoiseFloor();
    standing(floor, 300, 300);
    expect(standing(floor, 900, 20)).toBe(20);
    standing(floor, 300, 20);
    expect(floor.energy).toBeLessThan(300 ** 2 * 1.1);
  });
});
