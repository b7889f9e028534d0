import { describe, expect, it } from 'vitest';
import { MEMORY_LIMITS } from '../../../../src/memory/limits.ts';
import { areSearchable, factsCodec, vectorCodec } from '../../../../src/memory/purchase/codecs.ts';

const vectors = [Float32Array.of(1, -0.5, 3e-7), Float32Array.of(0, 1, 2)];

const of = { model: 'acme/vectors-1', texts: ['her car', 'his house'], dims: 0 };

describe('vectors that are kept', () => {
  it('stored vectors are decoded exactly, at any byte offset', () => {
    const codec = vectorCodec(of);
    expect(codec.decode(codec.encode(vectors))).toEqual(vectors);
    const inside = new Float32Array([9, 1, -0.5, 3e-7]).subarray(1);
    expect(codec.decode(codec.encode([inside, inside]))).toEqual([vectors[0], vectors[0]]);
    const odd = Buffer.concat([Buffer.alloc(1), codec.encode(vectors)]).subarray(1);
    expect(codec.decode(odd)).toEqual(vectors);
  });

  it.each([
    ['other texts, as many', { ...of, texts: ['her car', 'his boat'] }],
    ['the same texts the other way round', { ...of, texts: ['his house', 'her car'] }],
    ['more texts', { ...of, texts: [...of.texts, 'a boat'] }],
    ['another model', { ...of, model: 'acme/vectors-2' }],
    ['a namespace with vectors of another length', { ...of, dims: 4 }],
  ])('stored vectors are not reused for %s', (_, other) => {
    expect(vectorCodec(other).decode(vectorCodec(of).encode(vectors))).toBeUndefined();
  });

  it('stored vectors are reused for a namespace with vectors of the same length', () => {
    expect(vectorCodec({ ...of, dims: 3 }).decode(vectorCodec(of).encode(vectors))).toEqual(
      vectors,
    );
  });
});

describe('facts that are kept', () => {
  it.each([
    [{ facts: ['Tom is a cat.'], inferError: null }],
    [{ facts: [], inferError: 'unreadable_answer' }] as const,
  ])('stored facts are decoded unchanged, also when there are none: %j', (outcome) => {
    expect(factsCodec.decode(factsCodec.encode(outcome))).toEqual(outcome);
  });
});

describe('vectors that an index takes', () => {
  const long = (numbers: number) => [new Float32Array(numbers)];

  it('the index accepts one vector per text, all of one length within the limit', () => {
    expect(areSearchable(vectors, 2)).toBe(true);
    expect(areSearchable(vectors, 3)).toBe(false);
    expect(areSearchable([...vectors, Float32Array.of(1)], 3)).toBe(false);
    expect(areSearchable(long(0), 1)).toBe(false);
    expect(areSearchable(long(MEMORY_LIMITS.index.dims), 1)).toBe(true);
    expect(areSearchable(long(MEMORY_LIMITS.index.dims + 1), 1)).toBe(false);
  });
});
