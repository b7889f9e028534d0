import { clampSample } from '../../../media/pcm.ts';

const LSB = 2;

/**
 * Adds noise of up to two steps of the least significant bit, without which the recogniser traps on
 * digital silence. Works in place; the same seed gives the same noise.
 */
export function createDither(seed: number): (pcm: Int16Array) => void {
  let state = seed >>> 0 || 1;
  return (pcm) => {
    for (let i = 0; i < pcm.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      const noisy = (pcm[i] as number) + ((state >>> 0) % (2 * LSB + 1)) - LSB;
      pcm[i] = clampSample(noisy);
    }
  };
}
