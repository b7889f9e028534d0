/** The value that this share of the others stays below; not a number where there are none. */
export const at = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

export const median = (values: readonly number[]): number => at(values, 0.5);
