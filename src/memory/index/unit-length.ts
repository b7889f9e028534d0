/** Longest length of a unit vector after rounding to Float32 or sending as text. */
export const LONGEST = 1.001;

/** Returns true when a vector is finite and no longer than a unit vector may be. */
export function isShort(vector: Float32Array): boolean {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    squares += value * value;
  }
  return squares <= LONGEST * LONGEST;
}
