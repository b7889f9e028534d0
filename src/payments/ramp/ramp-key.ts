import { createPrivateKey, type KeyObject } from 'node:crypto';

/** Key of this server at the provider, and the signature algorithm that it is for. */
export type RampKey = {
  readonly id: string;
  readonly algorithm: 'EdDSA' | 'ES256';
  readonly secret: KeyObject;
};

/** Bytes of an Ed25519 secret as the provider hands it out: the seed, then the public key. */
const ED25519_BYTES = 64;
const SEED_BYTES = 32;

/**
 * Reads a secret in one of the two forms that the provider hands out: 64 bytes of Ed25519 in base64, or a P-256 key in PEM, whose
 * line breaks may be written as `\n`. Undefined when the text is neither.
 */
export function readRampKey(id: string, secret: string): RampKey | undefined {
  try {
    if (secret.includes('-----BEGIN')) {
      const key = createPrivateKey(secret.replaceAll('\\n', '\n'));
      const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
      return isP256 ? { id, algorithm: 'ES256', secret: key } : undefined;
    }
    const bytes = Buffer.from(secret, 'base64');
    if (bytes.length !== ED25519_BYTES) return undefined;
    const key = createPrivateKey({
      key: {
        kty: 'OKP',
        crv: 'Ed25519',
        d: bytes.subarray(0, SEED_BYTES).toString('base64url'),
        x: bytes.subarray(SEED_BYTES).toString('base64url'),
      },
      format: 'jwk',
    });
    return { id, algorithm: 'EdDSA', secret: key };
  } catch {
    return undefined;
  }
}
