import fc from 'fast-check';
import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { checksumAddress, parseAddress } from '../../../src/x402/address.ts';

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const);

describe('an address', () => {
  it('checksumAddress spells an address as another library does', async () => {
    await fc.assert(
      fc.asyncProperty(address, async (plain) => {
        expect(await checksumAddress(plain)).toBe(getAddress(plain));
      }),
    );
  });

  it('parseAddress reads an address in any case and refuses everything else', () => {
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
