import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRate, priceRaw, sumPricesRaw, UNITS, type Unit } from '../../../src/kernel/price.ts';

const rate = (text: string): bigint => {
  const parsed = parseRate(text);
  if (parsed === undefined) throw new Error(`${text} is no rate`);
  return parsed;
};

/** The same price as a fraction of BigInts, with no rounding anywhere before the end. */
function exactPrice(usage: [Unit, number][], rates: [Unit, bigint][], marginBps: number) {
  const rateOf = new Map(rates);
  let numerator = 0n;
  for (const [unit, milli] of usage) numerator += BigInt(milli) * (rateOf.get(unit) ?? 0n);
  numerator *= BigInt(10_000 + marginBps);
  // Milli-units, 10^-12 USD a unit against 10^-6 USD a raw unit, and basis points.
  const denominator = 1_000n * 1_000_000n * 10_000n;
  return { numerator, denominator };
}

const units = fc.uniqueArray(fc.constantFrom(...UNITS), { maxLength: UNITS.length });
/** Milli-units: whole for everything but seconds. */
const quantities = units.chain((names) =>
  fc.tuple(
    ...names.map((unit) =>
      fc
        .integer({ min: 0, max: 2_000_000_000 })
        .map((n): [Unit, number] => [unit, unit === 'audio_second' ? n : n * 1_000]),
    ),
  ),
);
const rates = units.chain((names) =>
  fc.tuple(
    ...names.map((unit) =>
      fc.bigInt({ min: 0n, max: 10n ** 12n }).map((value): [Unit, bigint] => [unit, value]),
    ),
  ),
);
const margin = fc.integer({ min: 0, max: 10_000 });

describe('the price of metered work', () => {
  it('the price of metered work is the exact sum with margin, rounded up once to a raw unit', () => {
    fc.assert(
      fc.property(quantities, rates, margin, (milli, rateList, marginBps) => {
        const usage = Object.fromEntries(milli.map(([unit, n]) => [unit, n / 1_000]));
        const price = priceRaw(usage, Object.fromEntries(rateList), marginBps);
        const { numerator, denominator } = exactPrice(milli, rateList, marginBps);
        expect(price * denominator >= numerator).toBe(true);
        expect((price - 1n) * denominator < numerator).toBe(true);
      }),
    );
  });

  it('the price of metered work is zero only when no used unit has a rate above zero', () => {
    fc.assert(
      fc.property(quantities, rates, margin, (milli, rateList, marginBps) => {
        const usage = Object.fromEntries(milli.map(([unit, n]) => [unit, n / 1_000]));
        const priced = Object.fromEntries(rateList) as Partial<Record<Unit, bigint>>;
        const costs = milli.some(([unit, n]) => n > 0 && (priced[unit] ?? 0n) > 0n);
        expect(priceRaw(usage, priced, marginBps) > 0n).toBe(costs);
      }),
    );
  });

  it('the price of metered work never shrinks when more is used', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1e6), rates, margin, (a, more, rateList, marginBps) => {
        const priced = Object.fromEntries(rateList);
        const price = (tokens: number) =>
          priceRaw({ text_input_token: tokens, character: tokens }, priced, marginBps);
        expect(price(a + more) >= price(a)).toBe(true);
      }),
    );
  });

  it('1,200 input and 400 output tokens at 2.50 and 10.00 USD per million with 5 % margin cost 7350 raw', () => {
    const usage = { text_input_token: 1_200, text_output_token: 400 };
    const priced = { text_input_token: rate('2.50'), text_output_token: rate('10.00') };
    expect(priceRaw(usage, priced, 0)).toBe(7_000n);
    expect(priceRaw(usage, priced, 500)).toBe(7_350n);
  });

  it('the price of metered work rounds the sum and not its parts', () => {
    const priced = { text_input_token: rate('0.5'), text_output_token: rate('0.5') };
    expect(priceRaw({ text_input_token: 1, text_output_token: 1 }, priced, 0)).toBe(1n);
    expect(priceRaw({ text_input_token: 1 }, priced, 0)).toBe(1n);
  });

  it('the price of metered work counts seconds to the millisecond', () => {
    const priced = { audio_second: rate('1000000') };
    expect(priceRaw({ audio_second: 1.234 }, priced, 0)).toBe(1_234_000n);
  });
});

describe('the price of work that several sources did together', () => {
  it('the price of work by several sources uses each source’s rates and margin, and rounds up once', () => {
    const third = { usage: { character: 1 }, rates: { character: 400_000n }, marginBps: 0 };
    const half = { usage: { request: 1 }, rates: { request: 400_000n }, marginBps: 5_000 };
    expect(sumPricesRaw([third, half])).toBe(1n);
    expect(sumPricesRaw([third, half, third])).toBe(2n);
    expect(sumPricesRaw([])).toBe(0n);
  });
});

describe('a rate', () => {
  it('a rate is read exactly as USD per million, to six decimals', () => {
    expect(rate('2.5')).toBe(2_500_000n);
    expect(rate('0.0385')).toBe(38_500n);
    expect(rate('0')).toBe(0n);
  });

  it('a rate is refused in any other spelling', () => {
    for (const text of ['', '-1', '1e3', '.5', '1.', '0.1234567', '1,5', ' 1', 'NaN']) {
      expect(parseRate(text), text).toBeUndefined();
    }
  });
});
