import { describe, expect, it } from 'vitest';
import { PAYMENT_LIMITS } from '../../../../src/payments/limits.ts';
import { createRememberedPrices } from '../../../../src/payments/quotes/remembered-prices.ts';
import type { PaymentOffer } from '../../../../src/x402/offer.ts';

const offer = (amountRaw: bigint) => ({ amountRaw }) as PaymentOffer;

describe('prices that vendors asked for', () => {
  it('the remembered price of a target is the cheapest offer of its last challenge, by method', () => {
    const prices = createRememberedPrices();
    const target = { method: 'GET', url: 'https://vendor.example/a' };
    expect(prices.last(target)).toBeUndefined();
    prices.note(target, [offer(9n), offer(7n)]);
    expect(prices.last(target)).toBe(7n);
    prices.note(target, []);
    expect(prices.last(target)).toBe(7n);
    prices.note(target, [offer(8n)]);
    expect(prices.last(target)).toBe(8n);
    expect(prices.last({ ...target, method: 'POST' })).toBeUndefined();
  });

  it('remembered prices beyond `askedPricesKept` are dropped, the least recently used first', () => {
    const prices = createRememberedPrices();
    const target = (n: number) => ({ method: 'GET', url: `https://vendor.example/${n}` });
    for (let n = 0; n <= PAYMENT_LIMITS.quote.askedPricesKept; n++)
      prices.note(target(n), [offer(BigInt(n))]);
    expect(prices.last(target(0))).toBeUndefined();
    expect(prices.last(target(1))).toBe(1n);
  });
});
