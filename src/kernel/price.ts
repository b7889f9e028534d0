/** Units of metered work; the names are the wire's (`POST /v1/estimate`, catalogue rates). */
export const UNITS = [
  'text_input_token',
  'text_output_token',
  'cached_input_token',
  'audio_input_token',
  'audio_output_token',
  'character',
  'audio_second',
  'request',
] as const;

export type Unit = (typeof UNITS)[number];

/** Quantities of metered work. Seconds and prompt tokens may carry thousandths; everything else is whole. */
export type Usage = Readonly<Partial<Record<Unit, number>>>;

/** Rounds to thousandths, in which quantities are counted. */
export const toMillis = (quantity: number): number => Math.round(quantity * 1_000) / 1_000;

/** Adds the quantities of `more` to `sum`, unit by unit. Rounding to thousandths keeps the sum independent of the pieces. */
export function addUsage(
  sum: Record<string, number>,
  more: Readonly<Record<string, number>>,
): void {
  for (const [unit, quantity] of Object.entries(more)) {
    sum[unit] = toMillis((sum[unit] ?? 0) + quantity);
  }
}

/** Price of one unit in 10^-12 USD, the same number as the price of a million units in 10^-6 USD. */
export type Rates = Readonly<Partial<Record<Unit, bigint>>>;

const MILLI = 1_000n;
const PICO_PER_RAW = 1_000_000n;
const BPS = 10_000n;

/**
 * Reads a price in USD per million units (`"2.5"`, `"0.0385"`) as an exact integer rate. Returns undefined for any other text.
 */
export function parseRate(usdPerMillion: string): bigint | undefined {
  const match = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(usdPerMillion);
  if (match === null) return undefined;
  return BigInt(match[1] as string) * PICO_PER_RAW + BigInt((match[2] ?? '').padEnd(6, '0'));
}

/** Returns the exact upstream cost in 10^-15 USD (thousandths of the rate unit, since seconds have milliseconds). */
function costFemto(usage: Usage, rates: Rates): bigint {
  let femto = 0n;
  for (const unit in usage) {
    const quantity = usage[unit as Unit];
    const rate = rates[unit as Unit];
    if (quantity === undefined || rate === undefined) continue;
    femto += BigInt(Math.round(quantity * 1_000)) * rate;
  }
  return femto;
}

const ceilDiv = (a: bigint, b: bigint) => (a + b - 1n) / b;

/** Returns the margin on an amount that was paid to a vendor, rounded up. */
export const marginRaw = (paidRaw: bigint, marginBps: number): bigint =>
  ceilDiv(paidRaw * BigInt(marginBps), BPS);

/**
 * Returns the price of `usage` in raw USDC, margin included: summed exactly over all units and rounded up once, so the price is
 * 0 only when every rate that applies is 0.
 */
export const priceRaw = (usage: Usage, rates: Rates, marginBps: number): bigint =>
  sumPricesRaw([{ usage, rates, marginBps }]);

/** Work of one kind under its own rates and margin. */
export type PricedUsage = {
  readonly usage: Usage;
  readonly rates: Rates;
  readonly marginBps: number;
};

/**
 * Returns the price of work that several sources did together: each part at its own rates and margin, the sum rounded up once.
 */
export function sumPricesRaw(parts: readonly PricedUsage[]): bigint {
  let sum = 0n;
  for (const { usage, rates, marginBps } of parts) {
    sum += costFemto(usage, rates) * (BPS + BigInt(marginBps));
  }
  return ceilDiv(sum, MILLI * PICO_PER_RAW * BPS);
}
