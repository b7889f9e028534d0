/**
 * Difference between a vendor's delivery and the order. `expected` and `observed` are texts for people, such as `12 seconds`.
 */
export type Deviation = {
  readonly tripwire: 'content_type' | 'characters' | 'seconds' | 'pages';
  readonly expected: string;
  readonly observed: string;
};

/** Amount of work that a vendor reports. */
export type ReportedWork = {
  readonly unit: 'character' | 'audio_second';
  readonly quantity: number;
};

/** Returns the seconds that a vendor reports in its answer. Undefined when the answer has none. */
export const reportedSeconds = (value: unknown, perSecond = 1): ReportedWork | undefined =>
  reported('audio_second', value, perSecond);

/** Returns the number of characters that a vendor reports, which some vendors write into a header. */
export const reportedCharacters = (value: unknown): ReportedWork | undefined =>
  reported(
    'character',
    typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value,
  );

const reported = (unit: ReportedWork['unit'], value: unknown, per = 1): ReportedWork | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? { unit, quantity: value / per }
    : undefined;

/** Tolerance of a report: files have padding, and vendors round. */
const SLACK = {
  character: { tripwire: 'characters', least: 10, share: 0.05 },
  audio_second: { tripwire: 'seconds', least: 2, share: 0.05 },
} as const;

/**
 * Returns the difference between a vendor's report and the quantity measured here. Undefined when the difference is within the
 * tolerance, or there is nothing to compare.
 */
export function deviationOf(
  measured: Readonly<Record<string, number>>,
  report: ReportedWork | undefined,
): Deviation | undefined {
  const expected = report === undefined ? undefined : measured[report.unit];
  if (report === undefined || expected === undefined) return undefined;
  const { least, share, tripwire } = SLACK[report.unit];
  const { quantity } = report;
  if (Math.abs(quantity - expected) <= Math.max(least, share * expected)) return undefined;
  return {
    tripwire,
    expected: `${round(expected)} ${tripwire}`,
    observed: `${round(quantity)} ${tripwire}`,
  };
}

const round = (quantity: number): number => Math.round(quantity * 1_000) / 1_000;
