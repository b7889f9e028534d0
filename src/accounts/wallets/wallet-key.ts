import { hkdfSync } from 'node:crypto';
import { addressOfPrivateKey } from '../../platform/chain/account.ts';

const MAX_TRIES = 16;

export type WalletKey = { readonly privateKey: Uint8Array; readonly address: string };

/**
 * Derives the key of a local wallet: HKDF-SHA256 with the authorization key as secret, the reference as salt and `agent wallet
 * <n>` as info, n being the first of 0, 1, … that gives a valid private key (0 in all but one of 2^128). A holder of the
 * authorization key and the reference can derive it again.
 */
export async function deriveWalletKey(
  authorizationKey: string,
  reference: string,
): Promise<WalletKey> {
  for (let n = 0; n < MAX_TRIES; n++) {
    const bytes = hkdfSync('sha256', authorizationKey, reference, `agent wallet ${n}`, 32);
    const privateKey = new Uint8Array(bytes);
    const address = await addressOfPrivateKey(privateKey);
    if (address !== undefined) return { privateKey, address };
  }
  throw new Error('no valid private key could be derived');
}
