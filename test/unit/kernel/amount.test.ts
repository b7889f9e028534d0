import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatUsdc, parseAmountRaw } from '../../../src/kernel/amount.ts';

describe('parseAmountRaw', () => {
  it('takes digits that a database bigint holds, and nothing else', () => {
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

  it('reads back every amount it could have written', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        (raw) => parseAmountRaw(raw.toString()) === raw,
      ),
    );
  });
});

describe('formatUsdc', () => {
  it('shows all six decimals and loses nothing', () => {
    expect(formatUsdc(7_350n)).toBe('0.007350');
    expect(formatUsdc(0n)).toBe('0.000000');
    expect(formatUsdc(-1n)).toBe('-0.000001');
    fc.assert(fc.property(fc.bigInt(), (raw) => BigInt(formatUsdc(raw).replace('.', '')) === raw));
  });
});
