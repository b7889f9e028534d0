import fc from 'fast-check';
import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { checksumAddress, parseAddress } from '../../../src/x402/address.ts';

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const);

describe('an address', () => {
  it('is spelled with the checksum that another library gives it', async () => {
    await fc.assert(
      fc.asyncProperty(address, async (plain) => {
        expect(await checksumAddress(plain)).toBe(getAddress(plain));
      }),
    );
  });

  it('reads the same in any case, and nothing else reads as one', () => {
    fc.assert(
      fc.property(address, (plain) => {
        expect(parseAddress(getAddress(plain))).toBe(plain);
        expect(parseAddress(`${plain}0`)).toBeUndefined();
        expect(parseAddress(plain.slice(2))).toBeUndefined();
      }),
    );
    expect(parseAddress(undefined)).toBeUndefined();
  });
});
