import type { IndexedRow } from '../../src/memory/index/pack-rows.ts';
import type { Found, SpaceQuery } from '../../src/memory/index/space-query.ts';

/** Numbers from 0 to 1 that look like chance and are the same for the same seed (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Scales the vector to the length 1; one of zeros stays. */
export function toUnit(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const scale = squares === 0 ? 0 : 1 / Math.sqrt(squares);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * scale;
  return vector;
}

export function randomVector(chance: () => number, dims: number): Float32Array {
  const vector = new Float32Array(dims);
  for (let i = 0; i < dims; i++) vector[i] = chance() - 0.5;
  return toUnit(vector);
}

/** Vectors around so many centres, as texts of a few subjects lie; `spread` is how far they are from theirs. */
export function clusteredVectors(
  chance: () => number,
  shape: {
    readonly count: number;
    readonly dims: number;
    readonly centres: number;
    readonly spread: number;
  },
): Float32Array[] {
  const centres = Array.from({ length: shape.centres }, () => randomVector(chance, shape.dims));
  return Array.from({ length: shape.count }, () => {
    const centre = centres[Math.floor(chance() * centres.length)] ?? new Float32Array(shape.dims);
    const off = randomVector(chance, shape.dims);
    return toUnit(off.map((value, i) => value * shape.spread + (centre[i] ?? 0)));
  });
}

export function exactScore(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** What a search has to find: every row is scored in Float64. */
export function searchAll(
  rows: readonly IndexedRow[],
  { among, k, tag, vector }: SpaceQuery,
): Found[] {
  return rows
    .filter((row) => (tag === undefined || row.tag === tag) && (among?.includes(row.id) ?? true))
    .map((row) => ({ id: row.id, score: exactScore(row.vector, vector) }))
    .sort((a, b) => b.score - a.score || a.id - b.id)
    .slice(0, k);
}
