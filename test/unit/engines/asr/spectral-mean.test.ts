import { describe, expect, it } from 'vitest';
import { findSpectralMean } from '../../../../src/engines/asr/spectral-mean.ts';

/** A memory with `cmn_t` of 13 coefficients at each of these words. */
function memory(...places: readonly number[]) {
  const bytes = new ArrayBuffer(4_096);
  const words = new Int32Array(bytes);
  const floats = new Float32Array(bytes);
  for (const at of places) {
    const vectors = [at + 8, at + 24, at + 40];
    words.set([...vectors.map((vector) => vector * 4), 0, 13], at);
    floats[at + 8] = 50;
  }
  return { HEAP32: words, HEAPF32: floats };
}

describe('spectral mean', () => {
  it('the spectral mean reads and writes the frames, means and sums of a recogniser', () => {
    const { HEAP32, HEAPF32 } = memory(100);
    const mean = findSpectralMean({ HEAP32, HEAPF32 }, 50);
    expect(mean?.read()).toEqual([0, 50, ...new Array(25).fill(0)]);
    HEAP32[103] = 7;
    HEAPF32.fill(2, 108, 121);
    HEAPF32.fill(3, 140, 153);
    const learned = mean?.read();
    expect(learned).toEqual([7, ...new Array(13).fill(2), ...new Array(13).fill(3)]);
    mean?.write(undefined);
    const zeros = new Array(12).fill(0);
    expect(mean?.read()).toEqual([500, 50, ...zeros, 25_000, ...zeros]);
    mean?.write(learned);
    expect(mean?.read()).toEqual(learned);
  });

  it('the spectral mean is not used where its place in memory is not found, or found twice', () => {
    expect(findSpectralMean(memory(), 50)).toBeUndefined();
    expect(findSpectralMean(memory(100, 300), 50)).toBeUndefined();
    expect(findSpectralMean(memory(100), 40)).toBeUndefined();
  });
});
