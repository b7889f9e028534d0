import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { canonicalJson } from '../../kernel/json/canonical-json.ts';

/** The signed parts of a request to a wallet provider. A change of one byte needs another signature. */
export type SignedRequest = {
  readonly method: 'POST';
  readonly url: string;
  readonly body: object;
  /** Headers that only this provider defines, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Reads the P-256 key that signs requests: PKCS#8 in PEM or in base64, with or without a label such as `wallet-auth:`.
 * Undefined for anything else.
 */
export function readSigningKey(text: string): KeyObject | undefined {
  // Environment variables of one line often have the line breaks of a PEM file as `\n`.
  const key = text
    .trim()
    .replaceAll('\\n', '\n')
    .replace(/^[a-z-]+:/, '');
  try {
    const privateKey = key.startsWith('-----BEGIN')
      ? createPrivateKey(key)
      : createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' });
    const isP256 = privateKey.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return isP256 ? privateKey : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the public half of a key in the form for providers: SPKI in base64. */
export const publicKeyText = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64');

/** Signs a request in canonical JSON with ECDSA and SHA-256. Returns the DER signature in base64. */
export function signRequest(privateKey: KeyObject, request: SignedRequest): string {
  const text = canonicalJson({ version: 1, ...request });
  return sign('sha256', Buffer.from(text), privateKey).toString('base64');
}
