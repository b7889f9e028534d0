import { encodePaymentResponseHeader } from '@x402/core/http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { X402_LIMITS } from '../../../src/x402/limits.ts';
import { decodeSettlement } from '../../../src/x402/settlement.ts';
import { base64, PAYEE } from '../../support/challenges.ts';

const HASH = `0x${'Ab'.repeat(32)}`;
const settlement = (value: string, name = 'payment-response') =>
  decodeSettlement((asked) => (asked === name ? value : undefined));

describe('a claimed settlement', () => {
  it('a vendor’s claimed settlement is read as published servers write it', () => {
    const value = encodePaymentResponseHeader({
      success: true,
      transaction: HASH,
      network: 'eip155:8453',
      payer: PAYEE,
    });
    const said = {
      success: true,
      transaction: HASH.toLowerCase(),
      payer: PAYEE.toLowerCase(),
      network: 'eip155:8453',
    };
    expect(settlement(value)).toMatchObject(said);
    expect(settlement(value, 'x-payment-response')).toMatchObject(said);
  });

  it('a vendor’s claimed settlement is read from the loose forms of version 1', () => {
    for (const value of [HASH, `{"txHash":"${HASH}"}`, base64({ transactionHash: HASH })]) {
      expect(settlement(value, 'x-payment-response')?.transaction).toBe(HASH.toLowerCase());
    }
  });

  it('a vendor’s failed settlement keeps its reason, cut to `vendorReasonChars`', () => {
    const value = base64({ success: false, errorReason: 'x'.repeat(5_000), transaction: '' });
    const { errorReason, ...said } = settlement(value) ?? {};
    expect(said).toMatchObject({ success: false, transaction: undefined });
    expect(errorReason).toHaveLength(X402_LIMITS.reasonChars);
  });

  it('a vendor’s settlement that is missing or malformed is undefined and never throws', () => {
    for (const value of [
      '',
      ' ',
      'x',
      '{',
      base64([]),
      base64({ transaction: 7 }),
      base64('null'),
    ]) {
      expect(settlement(value), value).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json().map(base64)), (value) => {
        settlement(value);
      }),
    );
  });
});
