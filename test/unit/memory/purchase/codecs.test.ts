import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { areSearchable, vectorCodec } from '../../../../src/memory/purchase/codecs.ts';

const vectors = [Float32Array.of(1, -0.5, 3e-7), Float32Array.of(0, 1, 2)];

describe('vectors that are kept', () => {
  it('come back as they were, number by number', () => {
    const codec = vectorCodec(2);
    expect(codec.decode(codec.encode(vectors))).toEqual(vectors);
    const inside = new Float32Array([9, 1, -0.5, 3e-7]).subarray(1);
    expect(codec.decode(codec.encode([inside, inside]))).toEqual([vectors[0], vectors[0]]);
  });

  it('do not come back for another number of texts', () => {
    expect(vectorCodec(3).decode(vectorCodec(2).encode(vectors))).toBeUndefined();
  });
});

describe('vectors that an index takes', () => {
  const long = (numbers: number) => [new Float32Array(numbers)];

  it('are one a text, of one length, and not too long', () => {
    expect(areSearchable(vectors, 2)).toBe(true);
    expect(areSearchable(vectors, 3)).toBe(false);
    expect(areSearchable([...vectors, Float32Array.of(1)], 3)).toBe(false);
    expect(areSearchable(long(0), 1)).toBe(false);
    expect(areSearchable(long(LIMITS.memory.indexDims), 1)).toBe(true);
    expect(areSearchable(long(LIMITS.memory.indexDims + 1), 1)).toBe(false);
  });
});
