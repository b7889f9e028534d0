import { createHmac } from 'node:crypto';
import { sameSecret } from '../accounts/keys/keyed-hash.ts';
import { ORCHESTRATOR_LIMITS } from './limits.ts';
import { PLATFORMS, type Provider } from './platform.ts';

/** Proof in the headers of a request, which is judged over the bytes of its body. */
export type Proof = (body: Uint8Array, secret: string) => boolean;

const HEX = /^[0-9a-fA-F]{64}$/;
const RETELL = /^v=(\d{10}|\d{13}),d=([0-9a-fA-F]{64})$/;
/** Digits of Unix seconds; thirteen digits are milliseconds. */
const SECOND_DIGITS = 10;

/**
 * Reads the proof that a platform sends with each request. Undefined when the header is missing, has another form or is of
 * another time: then the body need not be read.
 */
export function readProof(
  provider: Provider,
  headers: ReadonlyMap<string, string>,
  nowMs: number,
): Proof | undefined {
  const shown = headers.get(PLATFORMS[provider].header)?.trim();
  if (shown === undefined) return undefined;
  switch (provider) {
    case 'vapi':
      return (_, secret) => sameSecret(shown, secret);
    case 'retell': {
      const [, stamp = '', digest = ''] = RETELL.exec(shown) ?? [];
      const atMs = stamp.length === SECOND_DIGITS ? Number(stamp) * 1_000 : Number(stamp);
      if (stamp === '' || Math.abs(nowMs - atMs) > ORCHESTRATOR_LIMITS.inbound.signatureMs) {
        return undefined;
      }
      return (body, secret) => sameDigest(digest, secret, body, stamp);
    }
    default:
      return HEX.test(shown) ? (body, secret) => sameDigest(shown, secret, body) : undefined;
  }
}

/** Compares a digest in hex with the HMAC-SHA256 of the body and what follows it, in constant time. */
const sameDigest = (digest: string, secret: string, body: Uint8Array, behind = ''): boolean =>
  sameSecret(
    digest.toLowerCase(),
    createHmac('sha256', secret).update(body).update(behind).digest('hex'),
  );
