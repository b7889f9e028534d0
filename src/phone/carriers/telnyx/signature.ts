import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type Clock, nowSeconds } from '../../../kernel/clock.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { CallbackRequest } from '../carrier.ts';

/** Prefix of the 32 bytes of an Ed25519 key in SPKI (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Reads the public key that Telnyx shows to its customers, as raw bytes or as SPKI. Throws when it is neither form. */
export function telnyxPublicKey(base64: string): KeyObject {
  const bytes = Buffer.from(base64, 'base64');
  const key = bytes.length === KEY_BYTES ? Buffer.concat([SPKI_HEAD, bytes]) : bytes;
  try {
    const read = createPublicKey({ key, format: 'der', type: 'spki' });
    if (read.asymmetricKeyType === 'ed25519') return read;
  } catch {
    // The error is thrown below instead, without the bytes of the key.
  }
  throw new Error('TELNYX_PUBLIC_KEY is no Ed25519 key in base64');
}

type Deps = { readonly publicKey: KeyObject; readonly clock: Clock };

/**
 * Returns the timestamp and the signature in the headers of Telnyx. Undefined when a header is missing or malformed, or the
 * timestamp is too old or too new.
 */
export function telnyxSignature(
  { clock }: Pick<Deps, 'clock'>,
  headers: CallbackRequest['headers'],
): { readonly timestamp: string; readonly bytes: Buffer } | undefined {
  const timestamp = headers['telnyx-timestamp'];
  const signature = headers['telnyx-signature-ed25519'];
  if (timestamp === undefined || signature === undefined) return undefined;
  if (!/^\d{1,12}$/.test(timestamp)) return undefined;
  const ageMs = Math.abs(nowSeconds(clock) - Number(timestamp)) * 1_000;
  if (ageMs > PHONE_LIMITS.carrier.callbackAgeMs) return undefined;
  const bytes = Buffer.from(signature, 'base64');
  // Node decodes base64 leniently, so the decoded bytes are compared with the text: only one spelling is accepted.
  const isWhole = bytes.length === SIGNATURE_BYTES && bytes.toString('base64') === signature;
  return isWhole ? { timestamp, bytes } : undefined;
}

/** Returns true when Telnyx has signed the request and the signature is not too old. */
export function isSignedByTelnyx(deps: Deps, { headers, body }: CallbackRequest): boolean {
  const shown = telnyxSignature(deps, headers);
  if (shown === undefined || body.length > PHONE_LIMITS.carrier.callbackBytes) return false;
  const signed = Buffer.concat([Buffer.from(`${shown.timestamp}|`), body]);
  return verify(null, signed, deps.publicKey, shown.bytes);
}
