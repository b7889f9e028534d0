import { BRAND } from '../../kernel/ids.ts';
import { readCookie } from './session-cookie.ts';

/** Credential that a request presents, before it is checked. */
export type Presented =
  | { readonly kind: 'developer_key'; readonly key: string }
  | { readonly kind: 'agent_key'; readonly key: string }
  | { readonly kind: 'client_secret'; readonly secret: string }
  | { readonly kind: 'session'; readonly token: string; readonly via: 'bearer' | 'cookie' }
  | {
      readonly kind: 'signature';
      readonly wallet: string | undefined;
      readonly signature: string | undefined;
      readonly timestamp: string | undefined;
    }
  /** An Authorization header of another scheme, or without a token. */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'nothing' };

type Headers = ReadonlyMap<string, string>;

/** Returns the token of `Authorization: Bearer …`; the scheme's case does not matter. Undefined for any other header. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** Returns the key of `Authorization: Token …`, which clients of live transcription send. Undefined for any other header. */
export const schemeToken = (authorization: string): string | undefined =>
  /^token +(\S+)$/i.exec(authorization)?.[1];

/** Returns a key by the kind of its prefix, longer prefixes first. A token without a known prefix counts as a session. */
export function presentKey(token: string): Presented {
  if (token.startsWith(BRAND.developerKeyPrefix)) return { kind: 'developer_key', key: token };
  if (token.startsWith(BRAND.agentKeyPrefix)) return { kind: 'agent_key', key: token };
  if (token.startsWith(BRAND.clientSecretPrefix)) return { kind: 'client_secret', secret: token };
  return { kind: 'session', token, via: 'bearer' };
}

/** Returns the secret of a credential as one text, by which the credential is recognised. Empty without a credential. */
export function shownOf(presented: Presented): string {
  switch (presented.kind) {
    case 'developer_key':
    case 'agent_key':
      return presented.key;
    case 'client_secret':
      return presented.secret;
    case 'session':
      return presented.token;
    case 'signature':
      return [presented.wallet, presented.signature, presented.timestamp].join('\n');
    case 'malformed':
    case 'nothing':
      return '';
  }
}

/**
 * Picks the one credential that counts: first a key in the route's key header, as with the vendor of its dialect, then a
 * Bearer, then a signature, then a cookie.
 */
export function presentedCredential(
  headers: Headers,
  {
    acceptsTokenScheme = false,
    keyHeader,
  }: { readonly acceptsTokenScheme?: boolean; readonly keyHeader?: string | undefined } = {},
): Presented {
  const key = keyHeader === undefined ? undefined : headers.get(keyHeader)?.trim();
  if (key !== undefined && key !== '') return presentKey(key);

  const authorization = headers.get('authorization');
  if (authorization !== undefined) {
    const token =
      bearerToken(authorization) ?? (acceptsTokenScheme ? schemeToken(authorization) : undefined);
    return token === undefined ? { kind: 'malformed' } : presentKey(token);
  }

  const wallet = headers.get('x-wallet-address');
  const signature = headers.get('x-signature');
  const timestamp = headers.get('x-timestamp');
  if (wallet !== undefined || signature !== undefined || timestamp !== undefined) {
    return { kind: 'signature', wallet, signature, timestamp };
  }

  const token = readCookie(headers.get('cookie'), BRAND.sessionCookie);
  return token === undefined ? { kind: 'nothing' } : { kind: 'session', token, via: 'cookie' };
}
