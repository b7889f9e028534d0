import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { X402_LIMITS } from '../../../src/x402/limits.ts';
import { readRefusal } from '../../../src/x402/refusal.ts';
import { base64, challengeV2, entryV2, withBody, withHeader } from '../../support/challenges.ts';

describe("a vendor's reason to refuse a payment", () => {
  it('a vendor’s reason to refuse a payment is read from the places of both x402 versions', () => {
    expect(readRefusal(withBody('{"x402Version":1,"error":"insufficient_funds"}'))).toBe(
      'insufficient_funds',
    );
    expect(readRefusal(challengeV2([entryV2()], { error: 'nonce used' }))).toBe('nonce used');
    const settled = base64({ success: false, errorReason: 'settlement_pending' });
    const header = (name: string) => (name === 'payment-response' ? settled : undefined);
    expect(readRefusal({ header, body: Buffer.from('{}') })).toBe('settlement_pending');
  });

  it('a vendor’s reason to refuse a payment is cut to `vendorReasonChars`, and undefined where there is none', () => {
    const long = JSON.stringify({ error: 'x'.repeat(10_000) });
    expect(readRefusal(withBody(long))).toHaveLength(X402_LIMITS.reasonChars);
    for (const text of ['', '{}', '{"error":7}', '{"error":""}', 'no', ' '.repeat(100_000)]) {
      expect(readRefusal(withBody(text))).toBeUndefined();
    }
    fc.assert(
      fc.property(fc.string(), fc.json(), (junk, text) => {
        readRefusal(withHeader(junk, base64(text)));
      }),
    );
  });
});
