import { SignJWT } from 'jose';
import { type Clock, nowSeconds } from '../../kernel/clock.ts';
import { type Random, randomHex } from '../../kernel/random.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { RampKey } from './ramp-key.ts';

/**
 * Returns the credential of one request to the provider. It names the method, host and path of the request, is valid for two
 * minutes, and has a nonce that the provider takes once.
 */
export function signRequest(
  { clock, key, random }: { readonly clock: Clock; readonly key: RampKey; readonly random: Random },
  request: { readonly method: string; readonly url: URL },
): Promise<string> {
  const { method, url } = request;
  const now = nowSeconds(clock);
  const { algorithm: alg, id: kid, secret } = key;
  return new SignJWT({ uris: [`${method} ${url.host}${url.pathname}`] })
    .setProtectedHeader({ alg, kid, typ: 'JWT', nonce: randomHex(random, 16) })
    .setIssuer('cdp')
    .setSubject(kid)
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + PAYMENT_LIMITS.ramp.credentialSeconds)
    .sign(secret);
}
