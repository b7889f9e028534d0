import { parseRate } from '../../kernel/price.ts';

/** Price that a vendor publishes for its work. */
export type ListPrice = {
  /** Dollars for `per` units, as text with at most six decimals. */
  readonly usd: string;
  readonly per: number;
  readonly unit: 'character' | 'second' | 'page';
  /** Number of units in one billing step. A step that was begun is billed whole. */
  readonly step?: number;
};

const MILLI = 1_000n;
const BPS = 10_000n;

/**
 * Returns the exact price of `milliUnits` thousandths of a unit, margin included, in raw USDC. It is rounded up once,
 * so that it is 0 only when the list price is.
 */
export function listPriceRaw(
  { per, step, usd }: ListPrice,
  milliUnits: number,
  marginBps: number,
): bigint {
  // `parseRate` multiplies dollars by 10^6, and a dollar has 10^6 raw units: the result is the list price in raw units.
  const raw = parseRate(usd);
  if (raw === undefined) throw new RangeError(`"${usd}" is no price`);
  const milli = BigInt(Math.ceil(milliUnits));
  const stepMilli = BigInt(step ?? 0) * MILLI;
  const billed = stepMilli === 0n ? milli : ceilDiv(milli, stepMilli) * stepMilli;
  return ceilDiv(billed * raw * (BPS + BigInt(marginBps)), BigInt(per) * MILLI * BPS);
}

const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
