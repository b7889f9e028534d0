/**
 * Money is raw USDC: an integer count of 10^-6 dollars, `bigint` inside and a decimal string on the
 * wire. Rates are finer: integers of 10^-12 dollars a unit, so that a price is rounded only once.
 */

const RAW_DECIMALS = 6;
const MAX_RAW = 2n ** 63n - 1n;

/** A usable amount of raw USDC: digits only, no sign, no exponent, and it fits a database bigint. */
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
