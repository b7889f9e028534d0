/**
 * Money is raw USDC: an integer count of 10^-6 dollars, `bigint` inside and a decimal string on the
 * wire. Rates are finer: integers of 10^-12 dollars a unit, so that a price is rounded only once.
 */

const RAW_DECIMALS = 6;
/** Largest amount in raw USDC that a `bigint` column of the database holds. */
export const MAX_RAW = 2n ** 63n - 1n;

/** Parses an amount of raw USDC: digits only, no sign, no exponent, within a database bigint. Undefined for any other text. */
export function parseAmountRaw(text: string): bigint | undefined {
  if (!/^(0|[1-9]\d{0,18})$/.test(text)) return undefined;
  const amountRaw = BigInt(text);
  return amountRaw <= MAX_RAW ? amountRaw : undefined;
}

/** Shows raw USDC as dollars with all six decimals: `7350n` reads `0.007350`. */
export function formatUsdc(amountRaw: bigint): string {
  const sign = amountRaw < 0n ? '-' : '';
  const digits = (amountRaw < 0n ? -amountRaw : amountRaw)
    .toString()
    .padStart(RAW_DECIMALS + 1, '0');
  return `${sign}${digits.slice(0, -RAW_DECIMALS)}.${digits.slice(-RAW_DECIMALS)}`;
}

export function minRaw(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function maxRaw(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** A plain decimal number with or without an exponent, as JSON spells it, and no sign. */
const DECIMAL = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Returns the dollars of a JSON number in raw USDC, half a unit rounded up. Reads the digits, because a float of 1.0000005 is
 * already less. Undefined when the text is no amount or exceeds a database bigint.
 */
export const parseUsd = (text: string): bigint | undefined => parseDecimal(text, RAW_DECIMALS);

/** Returns the cents of a JSON number in raw USDC, like `parseUsd`. */
export const parseUsdCents = (text: string): bigint | undefined =>
  parseDecimal(text, RAW_DECIMALS - CENT_DECIMALS);

const CENT_DECIMALS = 2;

/** Returns a decimal number times ten to the power of `decimals`, rounded half up to a whole number. */
function parseDecimal(text: string, decimals: number): bigint | undefined {
  const [, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === '') return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return 0n;
  /** Number of the digits that stand before the point of the raw amount. */
  const kept = digits.length - fraction.length + Number(exponent) + decimals;
  if (kept < 0) return 0n;
  if (kept > MAX_RAW.toString().length) return undefined;
  const roundsUp = (digits[kept] ?? '0') >= '5';
  const amountRaw = BigInt(digits.slice(0, kept).padEnd(kept, '0')) + (roundsUp ? 1n : 0n);
  return amountRaw <= MAX_RAW ? amountRaw : undefined;
}
