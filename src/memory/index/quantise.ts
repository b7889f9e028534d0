/** Whole numbers of a row are bytes; those of a query may be wider at no cost, and their sums still fit 32 bits. */
const ROW_MOST = 127;
const QUERY_MOST = 2_047;

/** A unit vector may be so much longer after it was rounded to Float32 or sent as text. */
export const LONGEST = 1.001;

/** What is added to a bound for the rounding of the kernel's Float32 arithmetic, several times over. */
const ROUNDING = 2e-6;

type Coarse = {
  /** What the whole numbers are to be multiplied with. */
  readonly scale: number;
  /** The length of the difference. */
  readonly error: number;
};

/** Whether a vector is finite and no longer than a unit vector may be. */
export function isShort(vector: Float32Array): boolean {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    squares += value * value;
  }
  return squares <= LONGEST * LONGEST;
}

/** Writes the vector's nearest whole numbers on the finest scale that has them all, the largest of which is `most`. */
function quantise(vector: Float32Array, whole: Int16Array, most: number): Coarse {
  let largest = 0;
  for (let i = 0; i < vector.length; i++) {
    const size = Math.abs(vector[i] ?? 0);
    if (size > largest) largest = size;
  }
  const scale = Math.fround(largest / most);
  // A scale that is too small for Float32 is 0: then the error is the vector.
  const steps = scale === 0 ? 0 : 1 / scale;
  let squares = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    const near = Math.round(Math.max(-most, Math.min(most, value * steps)));
    whole[i] = near;
    const off = value - near * scale;
    squares += off * off;
  }
  return { scale, error: Math.sqrt(squares) };
}

export const quantiseRow = (vector: Float32Array, whole: Int16Array): Coarse =>
  quantise(vector, whole, ROW_MOST);

/** A query as the kernel takes it. */
export type PreparedQuery = {
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
  const { error, scale } = quantise(vector, coarse, QUERY_MOST);
  return { coarse, exact, scale, wide: LONGEST + error, slack: LONGEST * error + ROUNDING };
}
