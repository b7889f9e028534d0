import { createHash } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';

export type TestWallet = {
  /** Lower case. */
  readonly address: string;
  readonly privateKey: `0x${string}`;
  /** The three headers of a wallet signature made at `atMs`. */
  headers(atMs: number): Promise<Record<string, string>>;
  sign(atMs: number): Promise<{ wallet: string; signature: string; timestamp: string }>;
};

/** A plain wallet that is the same for the same name. It signs by another library than the server checks by. */
export function testWallet(name: string): TestWallet {
  const privateKey = `0x${createHash('sha256').update(`wallet ${name}`).digest('hex')}` as const;
  const account = privateKeyToAccount(privateKey);
  const sign = async (atMs: number) => {
    const timestamp = String(Math.floor(atMs / 1_000));
    const message = `Svc Credit API\nTimestamp: ${timestamp}`;
    return {
      wallet: account.address,
      signature: await account.signMessage({ message }),
      timestamp,
    };
  };
  return {
    address: account.address.toLowerCase(),
    privateKey,
    sign,
    async headers(atMs) {
      const { wallet, signature, timestamp } = await sign(atMs);
      return {
        'x-wallet-address': wallet,
        'x-signature': signature,
        'x-timestamp': timestamp,
      };
    },
  };
}
