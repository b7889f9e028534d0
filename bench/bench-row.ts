/** One measured line of a bench run. */
export type BenchRow = {
  /** The bar of the design it belongs to, such as `P1`. */
  readonly bar: string;
  readonly what: string;
  /** Not a number: it could not be measured, and the note says why. */
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

export const figureOf = ({ value, unit }: BenchRow): string =>
  Number.isNaN(value) ? 'not measured' : `${Number(value.toPrecision(4))} ${unit}`;

export const verdict = (holds: boolean): string => (holds ? 'held' : 'MISSED');
