import { createHash } from 'node:crypto';
import type { Random } from './random.ts';
import { randomBase62, randomHex } from './random.ts';

/** Brand part of every identifier, spelled here only. */
export const BRAND = {
  developerKeyPrefix: 'svc_live_',
  agentKeyPrefix: 'svc_',
  clientSecretPrefix: 'ek_',
  signedText: 'Svc Credit API',
  sessionCookie: 'svc_session',
  accountCookie: 'svc_account',
  accountHeader: 'x-svc-account',
  inviteTokenPrefix: 'inv_',
  headerPrefix: 'x-svc-',
  sttProtocol: 'svc-stt',
  realtimeProtocol: 'svc-realtime',
  ownedBy: 'svc',
} as const;

export const newDeveloperKey = (random: Random): string =>
  BRAND.developerKeyPrefix + randomBase62(random, 40);

export const newAgentKey = (random: Random): string => BRAND.agentKeyPrefix + randomHex(random, 32);

/** Returns the part of an agent key that may be shown again: its first 8 characters and three dots. */
export const agentKeyPrefix = (key: string): string => `${key.slice(0, 8)}...`;

/**
 * Returns the part of a developer key that may be shown again: its prefix, four characters of its secret part and three dots.
 */
export const developerKeyPrefix = (key: string): string =>
  `${key.slice(0, BRAND.developerKeyPrefix.length + 4)}...`;

/** Returns an account id: `acct_` and 12 random hex digits, never derived from the wallet. */
export const newAccountId = (random: Random): string => `acct_${randomHex(random, 6)}`;

export const newInviteToken = (random: Random): string =>
  BRAND.inviteTokenPrefix + randomHex(random, 32);

/** Returns an identifier such as `sess_…` or `chatcmpl-…`: the prefix, then 24 hex digits. */
export const newId = (random: Random, prefix: string): string => prefix + randomHex(random, 12);

/** Returns the id of a name: as long as a random id, and the same at every server. */
export const idOf = (prefix: string, name: string): string =>
  prefix + createHash('sha256').update(name).digest('hex').slice(0, 24);

/**
 * Returns the UUID of a name, for protocols that identify things by UUIDs (RFC 9562, version 8). Every server returns the same
 * UUID.
 */
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
