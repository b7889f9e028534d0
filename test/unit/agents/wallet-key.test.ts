import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { deriveWalletKey, openKey, sealKey } from '../../../src/agents/wallet-key.ts';
import { systemRandom } from '../../../src/kernel/random.ts';

describe('deriveWalletKey', () => {
  it('gives the same key for the same reference and another for any other', async () => {
    const one = await deriveWalletKey('authorization', 'acct_a:1');
    expect(await deriveWalletKey('authorization', 'acct_a:1')).toEqual(one);
    const others = await Promise.all([
      deriveWalletKey('authorization', 'acct_a:2'),
      deriveWalletKey('authorization', 'acct_b:1'),
      deriveWalletKey('another', 'acct_a:1'),
    ]);
    expect(new Set([one, ...others].map(({ address }) => address)).size).toBe(4);
  });

  it('names the address that another library derives from the key', async () => {
    const { privateKey, address } = await deriveWalletKey('authorization', 'acct_a:1');
    const account = privateKeyToAccount(`0x${Buffer.from(privateKey).toString('hex')}`);
    expect(address).toBe(account.address.toLowerCase());
  });
});

describe('a sealed key', () => {
  it('opens to what was sealed and to nothing once any byte of it has changed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat({ max: 59 }),
        (privateKey, position) => {
          const sealed = sealKey('secret', 'acct_a:1', privateKey, systemRandom);
          expect(sealed).toHaveLength(60);
          expect([...openKey('secret', 'acct_a:1', sealed)]).toEqual([...privateKey]);
          const bent = Uint8Array.from(sealed);
          bent[position] = (bent[position] as number) ^ 1;
          expect(() => openKey('secret', 'acct_a:1', bent)).toThrow();
        },
      ),
    );
  });
});
