import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { deriveWalletKey } from '../../../../src/accounts/wallets/wallet-key.ts';

describe('deriveWalletKey', () => {
  it('deriveWalletKey gives the same key for the same reference and another key for another reference', async () => {
    const one = await deriveWalletKey('authorization', 'acct_a:1');
    expect(await deriveWalletKey('authorization', 'acct_a:1')).toEqual(one);
    const others = await Promise.all([
      deriveWalletKey('authorization', 'acct_a:2'),
      deriveWalletKey('authorization', 'acct_b:1'),
      deriveWalletKey('another', 'acct_a:1'),
    ]);
    expect(new Set([one, ...others].map(({ address }) => address)).size).toBe(4);
  });

  it('deriveWalletKey names the address that another library derives from the key', async () => {
    const { privateKey, address } = await deriveWalletKey('authorization', 'acct_a:1');
    const account = privateKeyToAccount(`0x${Buffer.from(privateKey).toString('hex')}`);
    expect(address).toBe(account.address.toLowerCase());
  });
});
