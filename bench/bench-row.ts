/** One measured line of a bench run. */
export type BenchRow = {
  /** The bar of the design it belongs to, such as `P1`. */
  readonly bar: string;
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly note?: string;
};

export const benchRow = (
  bar: string,
  what: string,
  value: number,
  unit: string,
  note?: string,
): BenchRow => ({ bar, what, value, unit, ...(note === undefined ? {} : { note }) });
