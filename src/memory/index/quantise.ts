/** Whole numbers of a query may be wider than those of a row at no cost, and their sums still fit 32 bits. */
const QUERY_MOST = 2_047;

/** A unit vector may be so much longer after it was rounded to Float32 or sent as text. */
const LONGEST = 1.001;

/** What is added to a bound for the rounding of the kernel's Float32 arithmetic, several times over. */
const ROUNDING = 2e-6;

/** Whether a vector is finite and no longer than a unit vector may be. */
export function isShort(vector: Float32Array): boolean {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    squares += value * value;
  }
  return squares <= LONGEST * LONGEST;
}

/** A query as the kernel takes it. */
export type PreparedQuery = {
  /** Whole numbers, which are to be multiplied with `scale`. */
  readonly coarse: Int16Array;
  readonly exact: Float64Array;
  readonly scale: number;
  /**
   * The score of a row is its coarse score, more or less `wide` times the row's error and `slack`: the product of a vector
   * with the error of another is no longer than both lengths multiplied.
   */
  readonly wide: number;
  readonly slack: number;
};

export function prepareQuery(vector: Float32Array, stride: number): PreparedQuery {
  const coarse = new Int16Array(stride);
  const exact = new Float64Array(stride);
  exact.set(vector);
  const largest = exact.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = Math.fround(largest / QUERY_MOST);
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = exact[i] ?? 0;
    // A scale that is too small for Float32 is 0: then the error is the vector.
    const near = scale === 0 ? 0 : Math.round(value / scale);
    coarse[i] = near;
    squares += (value - near * scale) ** 2;
  }
  const error = Math.sqrt(squares);
  return { coarse, exact, scale, wide: LONGEST + error, slack: LONGEST * error + ROUNDING };
}
