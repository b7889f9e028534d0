import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { addressOfPrivateKey } from '../chain/account.ts';
import type { Random } from '../kernel/random.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_TRIES = 16;

export type WalletKey = { readonly privateKey: Uint8Array; readonly address: string };

/**
 * The key of a local wallet: HKDF-SHA256 with the authorization key as secret, the reference as salt
 * and `agent wallet <n>` as info, n being the first of 0, 1, … that gives a valid private key (0 in all
 * but one of 2^128). Whoever has the authorization key and the reference can derive it again.
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

/** AES-256-GCM under a secret of any length; bound to the reference, so that rows cannot be swapped. */
export function sealKey(
  secret: string,
  reference: string,
  privateKey: Uint8Array,
  random: Random,
): Uint8Array {
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, cipherKey(secret), nonce).setAAD(Buffer.from(reference));
  const sealed = Buffer.concat([cipher.update(privateKey), cipher.final()]);
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]);
}

/** The private key again. Throws when the secret, the reference or a byte is not what it was. */
export function openKey(secret: string, reference: string, sealed: Uint8Array): Uint8Array {
  const decipher = createDecipheriv(CIPHER, cipherKey(secret), sealed.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(reference))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([
    decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)),
    decipher.final(),
  ]);
}

const cipherKey = (secret: string): Uint8Array => createHash('sha256').update(secret).digest();
