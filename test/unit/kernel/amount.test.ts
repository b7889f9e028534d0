import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUsdc, parseAmountRaw, parseUsd } from '../../../src/kernel/amount.ts';

describe('parseAmountRaw', () => {
  it('parseAmountRaw accepts only digits that a database bigint holds', () => {
    expect(parseAmountRaw('0')).toBe(0n);
    expect(parseAmountRaw('9223372036854775807')).toBe(2n ** 63n - 1n);
    for (const bad of [
      '',
      '-1',
      '1.5',
      '1e3',
      '01',
      ' 1',
      '0x10',
      '9223372036854775808',
      String(2n ** 300n),
      '١',
    ]) {
      expect(parseAmountRaw(bad), bad).toBeUndefined();
    }
  });

  it('parseAmountRaw reads back every amount that it could have written', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        (raw) => parseAmountRaw(raw.toString()) === raw,
      ),
    );
  });
});

describe('formatUsdc', () => {
  it('formatUsdc shows all six decimals and loses nothing', () => {
    expect(formatUsdc(7_350n)).toBe('0.007350');
    expect(formatUsdc(0n)).toBe('0.000000');
    expect(formatUsdc(-1n)).toBe('-0.000001');
    fc.assert(fc.property(fc.bigInt(), (raw) => BigInt(formatUsdc(raw).replace('.', '')) === raw));
  });
});

describe('dollars in JSON', () => {
  it('dollars in JSON are read exactly as raw units, whatever their exponent', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.integer({ min: -30, max: 30 }), (raw, shift) => {
        // The same amount with its point moved and the exponent to make up for it.
        expect(parseUsd(`${raw}e-6`)).toBe(raw);
        expect(parseUsd(formatUsdc(raw))).toBe(raw);
        const moved = shift < 0 ? `0.${'0'.repeat(-shift)}${raw}` : `${raw}${'0'.repeat(shift)}`;
        const exponent = shift < 0 ? `${raw}`.length - shift : -shift;
        expect(parseUsd(`${moved}e${exponent - 6}`)).toBe(raw);
      }),
    );
  });

  it('dollars in JSON round half a raw unit up, and are refused beyond a bigint or in another spelling', () => {
    expect(parseUsd('0.0000004999999999999999999')).toBe(0n);
    expect(parseUsd('0.0000005')).toBe(1n);
    expect(parseUsd('0.9999995')).toBe(1_000_000n);
    expect(parseUsd('0e999999999999')).toBe(0n);
    expect(parseUsd('1e-999999999999')).toBe(0n);
    expect(parseUsd('9223372036854.775807')).toBe(2n ** 63n - 1n);
    expect(parseUsd('9223372036854.7758075')).toBeUndefined();
    for (const text of ['1e21', '1e999999999999', '-1', '+1', '', '.5', '1.', 'NaN', '0x1', '1 ']) {
      expect(parseUsd(text), text).toBeUndefined();
    }
  });
});
