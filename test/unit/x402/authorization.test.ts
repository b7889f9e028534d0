import fc from 'fast-check';
import { hashTypedData } from 'viem';
import { describe, expect, it } from 'vitest';
import { hashAuthorization, typedTransfer, usdcDomain } from '../../../src/x402/authorization.ts';
import { GOLDEN } from '../../support/challenges.ts';
import vectors from '../../vectors/x402.json' with { type: 'json' };

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
const arbitraryHex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((raw) => hex(raw) as `0x${string}`);

describe('hashAuthorization', () => {
  it('hashAuthorization gives the digest of the golden vector, first and from its cache', async () => {
    const domain = usdcDomain(vectors.usdc);
    expect(hex(await hashAuthorization(domain, GOLDEN))).toBe(vectors.digest);
    expect(hex(await hashAuthorization(domain, GOLDEN))).toBe(vectors.digest);
  });

  it('hashAuthorization agrees with another library for all authorizations and tokens', async () => {
    const transfer = fc.record({
      from: arbitraryHex(20),
      to: arbitraryHex(20),
      value: fc.bigInt(0n, 2n ** 63n - 1n),
      validBefore: fc.nat(),
      nonce: arbitraryHex(32),
    });
    await fc.assert(
      fc.asyncProperty(transfer, arbitraryHex(20), async (message, verifyingContract) => {
        const domain = usdcDomain(verifyingContract);
        const { value, ...rest } = message;
        const authorization = { ...rest, valueRaw: value, validAfter: 0 } as const;
        const digest = hex(await hashAuthorization(domain, authorization));
        expect(digest).toBe(
          hashTypedData({
            domain: { ...domain, verifyingContract },
            types: {
              TransferWithAuthorization: [
                { name: 'from', type: 'address' },
                { name: 'to', type: 'address' },
                { name: 'value', type: 'uint256' },
                { name: 'validAfter', type: 'uint256' },
                { name: 'validBefore', type: 'uint256' },
                { name: 'nonce', type: 'bytes32' },
              ],
            },
            primaryType: 'TransferWithAuthorization',
            message: { ...message, validAfter: 0n, validBefore: BigInt(message.validBefore) },
          }),
        );
        // A wallet provider that signs the JSON form signs the same thing.
        const typed = JSON.parse(JSON.stringify(typedTransfer(domain, authorization)));
        expect(hashTypedData(typed)).toBe(digest);
      }),
    );
  });
});
