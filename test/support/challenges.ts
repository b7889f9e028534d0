import { encodePaymentRequiredHeader } from '@x402/core/http';
import fc from 'fast-check';
import type { Authorization } from '../../src/x402/authorization.ts';
import type { VendorAnswer } from '../../src/x402/challenge.ts';
import type { Terms } from '../../src/x402/offer.ts';
import vectors from '../vectors/x402.json' with { type: 'json' };

export const USDC = vectors.usdc;
export const TERMS: Terms = { usdc: USDC, chainId: 8453 };

/** What the signature and the payment headers of the vectors were made for. */
export const GOLDEN: Authorization = {
  ...vectors.authorization,
  valueRaw: BigInt(vectors.authorization.valueRaw),
  validAfter: 0,
};
export const PAYEE = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

/** An entry of a challenge of version 2, payable unless it is told otherwise. */
export const entryV2 = (changes: object = {}) => ({
  scheme: 'exact',
  network: 'eip155:8453' as const,
  amount: '10000',
  asset: USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
  ...changes,
});

/** The same in version 1. */
export const entryV1 = (changes: object = {}) => ({
  scheme: 'exact',
  network: 'base',
  maxAmountRequired: '10000',
  resource: 'https://vendor.example/paid',
  description: 'paid thing',
  mimeType: 'application/json',
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  asset: USDC,
  extra: { name: 'USD Coin', version: '2' },
  ...changes,
});

/** A 402 with this text in its header, or in its body. */
export const withHeader = (...values: readonly string[]): VendorAnswer => ({
  header: (name) => (name === 'payment-required' ? values : undefined),
  body: undefined,
});
export const withBody = (text: string): VendorAnswer => ({
  header: () => undefined,
  body: Buffer.from(text),
});
export const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');

export const challengeV2 = (accepts: readonly object[], more: object = {}): VendorAnswer =>
  withHeader(
    encodePaymentRequiredHeader({
      x402Version: 2,
      resource: { url: 'https://vendor.example/paid' },
      accepts: accepts as ReturnType<typeof entryV2>[],
      ...more,
    }),
  );

/** Whatever else a vendor may offer beside what can be paid here, well formed or not. */
export const foreignEntry = fc.oneof(
  fc.jsonValue(),
  fc
    .constantFrom(
      { scheme: 'upto' },
      { network: 'eip155:1' },
      { network: 'eip155:84532' },
      { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' },
      { asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
      { asset: 8453 },
      { payTo: 'bob' },
      { payTo: USDC },
      { payTo: `0x${'0'.repeat(40)}` },
      { amount: String(2n ** 256n) },
      { amount: 1 },
      { amount: null },
      { extra: { name: 'USDC', version: '2' } },
      { extra: { name: 'USD Coin', version: '1' } },
      { extra: { assetTransferMethod: 'permit2' } },
      { extra: 'USD Coin' },
    )
    .map((changes) => entryV2(changes)),
);
