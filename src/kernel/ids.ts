import { createHash } from 'node:crypto';
import type { Random } from './random.ts';
import { randomBase62, randomHex } from './random.ts';

/** The brand part of every identifier stands here and nowhere else. */
export const BRAND = {
  developerKeyPrefix: 'svc_live_',
  agentKeyPrefix: 'svc_',
  clientSecretPrefix: 'ek_',
  signedText: 'Svc Credit API',
  sessionCookie: 'svc_session',
  headerPrefix: 'x-svc-',
  sttProtocol: 'svc-stt',
  realtimeProtocol: 'svc-realtime',
  ownedBy: 'svc',
} as const;

export const newDeveloperKey = (random: Random): string =>
  BRAND.developerKeyPrefix + randomBase62(random, 40);

export const newAgentKey = (random: Random): string => BRAND.agentKeyPrefix + randomHex(random, 32);

/** The only part of an agent key that is ever shown again: its first 8 characters and three dots. */
export const agentKeyPrefix = (key: string): string => `${key.slice(0, 8)}...`;

/** The same for a developer key, which keeps four characters of its secret part. */
export const developerKeyPrefix = (key: string): string =>
  `${key.slice(0, BRAND.developerKeyPrefix.length + 4)}...`;

/** `acct_` and 12 hex digits of chance; never derived from the wallet. */
export const newAccountId = (random: Random): string => `acct_${randomHex(random, 6)}`;

/** An identifier such as `sess_…` or `chatcmpl-…`: the prefix, then 24 hex digits. */
export const newId = (random: Random, prefix: string): string => prefix + randomHex(random, 12);

/** The id of a name: as long as one of chance, and the same one at every server. */
export const idOf = (prefix: string, name: string): string =>
  prefix + createHash('sha256').update(name).digest('hex').slice(0, 24);

/** The UUID of a name, for protocols that name things so (RFC 9562, version 8): the same one at every server. */
export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const variant = `8${hex.slice(17, 20)}`;
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant,
    hex.slice(20, 32),
  ].join('-');
}
