import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minRaw } from '../../../src/kernel/amount.ts';
import {
  chooseOffer,
  isPayableBy,
  type PaymentOffer,
  parseOffer,
} from '../../../src/x402/offer.ts';
import { entryV1, entryV2, PAYEE, TERMS, USDC } from '../../support/challenges.ts';

const offer = (changes: object) => parseOffer(entryV2(changes), 2, TERMS);

function requireOffer(changes: object): PaymentOffer {
  const found = offer(changes);
  if (found === undefined) throw new Error('expected an offer');
  return found;
}

/** 63 bits of decimal digits are an amount; nothing else is. */
const NOT_AMOUNTS = [
  '-5',
  '+5',
  '1e3',
  '0x10',
  '0.01',
  '٣',
  ' 1',
  '1 ',
  '',
  '01',
  '1_000',
  '1,000',
  'NaN',
  String(2n ** 63n),
  String(2n ** 256n),
  String(2n ** 256n + 10_000n),
  10_000,
  1e300,
  null,
  true,
  ['10000'],
  { value: '10000' },
];

describe('an offer', () => {
  it('an x402 offer’s amount is in plain digits and fits a database bigint', () => {
    expect(requireOffer({ amount: '0' }).amountRaw).toBe(0n);
    expect(requireOffer({ amount: String(2n ** 63n - 1n) }).amountRaw).toBe(2n ** 63n - 1n);
    for (const amount of NOT_AMOUNTS) {
      expect(offer({ amount }), String(amount)).toBeUndefined();
      const entry = entryV1({ maxAmountRequired: amount });
      expect(parseOffer(entry, 1, TERMS), String(amount)).toBeUndefined();
    }
    expect(offer({ amount: undefined, maxAmountRequired: '1' })).toBeUndefined();
  });

  it('an x402 offer is for USDC on the configured chain, by a plain transfer', () => {
    expect(offer({ asset: USDC.toLowerCase() })).toBeDefined();
    expect(offer({ asset: `0x${USDC.slice(2).toUpperCase()}` })).toBeDefined();
    expect(offer({ extra: undefined })).toBeDefined();
    expect(offer({ extra: null })).toBeDefined();
    expect(
      offer({ extra: { assetTransferMethod: 'eip3009', paymentFlow: 'upfront' } }),
    ).toBeDefined();
    for (const changes of [
      ...['upto', 'Exact', undefined, ['exact']].map((scheme) => ({ scheme })),
      ...['base', 'eip155:1', 'eip155:8453 ', 'EIP155:8453', 8453].map((network) => ({ network })),
      ...['USDC', `${USDC}00`, `0x${'11'.repeat(20)}`, undefined].map((asset) => ({ asset })),
      ...['USD Coin', 7, { name: 'USDC' }, { version: 2 }, { version: '1' }].map((extra) => ({
        extra,
      })),
      ...['permit2', null, ''].map((method) => ({ extra: { assetTransferMethod: method } })),
    ]) {
      expect(offer(changes), JSON.stringify(changes)).toBeUndefined();
    }
  });

  it('an x402 offer pays an address that is neither the zero address nor the token', () => {
    expect(requireOffer({}).payTo).toBe(PAYEE.toLowerCase());
    const zeroAddress = `0x${'0'.repeat(40)}`;
    for (const payTo of [
      'bob',
      zeroAddress,
      USDC,
      USDC.toLowerCase(),
      PAYEE.slice(0, -1),
      ` ${PAYEE}`,
    ]) {
      expect(offer({ payTo }), payTo).toBeUndefined();
    }
    for (const payTo of [`0X${PAYEE.slice(2)}`, null, 1, [PAYEE]]) {
      expect(offer({ payTo }), String(payTo)).toBeUndefined();
    }
  });

  it('an x402 offer cannot be paid by the wallet that it pays', () => {
    const found = requireOffer({});
    expect(isPayableBy(found, PAYEE)).toBe(false);
    expect(isPayableBy(found, PAYEE.toLowerCase())).toBe(false);
    expect(isPayableBy(found, USDC)).toBe(true);
  });

  it('an x402 offer is valid with any maxTimeoutSeconds, and an odd one is dropped', () => {
    expect(requireOffer({ maxTimeoutSeconds: 300 }).maxTimeoutSeconds).toBe(300);
    for (const maxTimeoutSeconds of [undefined, -1, 1e300, '60', 0.5]) {
      expect(requireOffer({ maxTimeoutSeconds }).maxTimeoutSeconds).toBeUndefined();
    }
  });

  it('an x402 offer keeps its entry unchanged', () => {
    const entry = entryV2({ extra: { version: '2', name: 'USD Coin', more: [1, { a: null }] } });
    expect(parseOffer(entry, 2, TERMS)?.entry).toBe(entry);
  });
});

describe('chooseOffer', () => {
  it('chooseOffer takes the cheapest offer, and the first of equals', () => {
    expect(chooseOffer([])).toBeUndefined();
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, 5n), { minLength: 1 }), (amounts) => {
        const offers = amounts.map((amount) => requireOffer({ amount: String(amount) }));
        const least = amounts.reduce(minRaw);
        expect(chooseOffer(offers)).toBe(offers[amounts.indexOf(least)]);
      }),
    );
  });
});
