import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type Clock, nowSeconds } from '../../../kernel/clock.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { CallbackRequest } from '../carrier.ts';

/** What stands before the 32 bytes of an Ed25519 key in SPKI (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** The key that Telnyx shows to its customers: the bytes themselves, or SPKI. Throws where it is neither. */
export function telnyxPublicKey(base64: string): KeyObject {
  const bytes = Buffer.from(base64, 'base64');
  const key = bytes.length === KEY_BYTES ? Buffer.concat([SPKI_HEAD, bytes]) : bytes;
  try {
    const read = createPublicKey({ key, format: 'der', type: 'spki' });
    if (read.asymmetricKeyType === 'ed25519') return read;
  } catch {
    // Said below, without the bytes.
  }
  throw new Error('TELNYX_PUBLIC_KEY is no Ed25519 key in base64');
}

/** Whether Telnyx has signed this request, and lately. */
export function isSignedByTelnyx(
  deps: { readonly publicKey: KeyObject; readonly clock: Clock },
  { headers, body }: CallbackRequest,
): boolean {
  const timestamp = headers['telnyx-timestamp'];
  const signature = headers['telnyx-signature-ed25519'];
  if (timestamp === undefined || signature === undefined) return false;
  if (body.length > LIMITS.phone.callbackBytes || !/^\d{1,12}$/.test(timestamp)) return false;
  const ageMs = Math.abs(nowSeconds(deps.clock) - Number(timestamp)) * 1_000;
  if (ageMs > LIMITS.phone.callbackAgeMs) return false;
  const bytes = Buffer.from(signature, 'base64');
  // Node reads base64 leniently: only one spelling of a signature is good.
  if (bytes.length !== SIGNATURE_BYTES || bytes.toString('base64') !== signature) return false;
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body]);
  return verify(null, signed, deps.publicKey, bytes);
}
