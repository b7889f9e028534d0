import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
import type { Random } from './random.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals bytes by AES-256-GCM under a secret of any length; returns nonce, sealed bytes and tag. `boundTo` names the place of
 * the bytes and is needed to open them, so that bytes sealed in one row open in no other.
 */
export function seal(
  secret: string,
  boundTo: string,
  bytes: Uint8Array,
  random: Random,
): Uint8Array {
  const nonce = random.bytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, cipherKey(secret), nonce).setAAD(Buffer.from(boundTo));
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** Returns the sealed bytes in clear. Throws when the secret, `boundTo` or a byte of `sealed` has changed. */
export function openSealed(secret: string, boundTo: string, sealed: Uint8Array): Uint8Array {
  const decipher = createDecipheriv(CIPHER, cipherKey(secret), sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(boundTo))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  return Buffer.concat([
    decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)),
    decipher.final(),
  ]);
}

/**
 * Secret that was used last, with its derived key. A process seals nearly everything with one secret, which is then hashed
 * once.
 */
let lastKey: { readonly secret: string; readonly key: Uint8Array } | undefined;

function cipherKey(secret: string): Uint8Array {
  if (lastKey?.secret !== secret) {
    lastKey = { secret, key: createHash('sha256').update(secret).digest() };
  }
  return lastKey.key;
}
