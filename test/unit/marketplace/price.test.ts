import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listPriceRaw } from '../../../src/marketplace/prices/price.ts';
import { LIST } from '../../../src/marketplace/prices/price-list.ts';

describe('a list price', () => {
  it.each([
    ['a character of Deepgram', LIST.deepgram.tts, 1, 32n],
    ['a thousand', LIST.deepgram.tts, 1_000, 31_500n],
    ['a millisecond of a whole minute', LIST.deepgram.stt, 0.001, 8_085n],
    ['a minute', LIST.deepgram.stt, 60, 8_085n],
    ['a minute and a millisecond', LIST.deepgram.stt, 60.001, 16_170n],
    ['an hour by the second', LIST.xai.stt, 3_600, 105_000n],
    ['a millisecond by the second', LIST.xai.stt, 0.001, 1n],
    ['nothing', LIST.xai.stt, 0, 0n],
    ['what is free', LIST.free, 1_000_000, 0n],
  ])('a list price is exact and rounded up once: %s', (_, price, units, raw) => {
    expect(listPriceRaw(price, units * 1_000, 500)).toBe(raw);
  });

  it('the list price of two parts together is at most the sum of both, and at most one raw unit below it', () => {
    const units = fc.integer({ min: 0, max: 100_000 });
    const of = (count: number) => listPriceRaw(LIST.elevenlabs.flash, count * 1_000, 500);
    fc.assert(
      fc.property(units, units, (one, other) => {
        const saved = of(one) + of(other) - of(one + other);
        return saved === 0n || saved === 1n;
      }),
    );
  });

  it('a list price that is not a decimal number throws', () => {
    expect(() => listPriceRaw({ ...LIST.free, usd: '1e3' }, 1, 500)).toThrow(RangeError);
  });
});
