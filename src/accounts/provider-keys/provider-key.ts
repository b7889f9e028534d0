import { ACCOUNT_LIMITS } from '../limits.ts';

/** The account that owns a key, and the key's provider. */
export type Place = { readonly accountId: string; readonly provider: string };

/** A stored key of an account at a provider, without the secret itself. */
export type ProviderKey = {
  readonly id: number;
  readonly provider: string;
  /** First characters of the key, followed by three dots, by which a developer recognizes the key. */
  readonly prefix: string;
  readonly label: string | null;
  readonly enabled: boolean;
  readonly createdBy: string;
  readonly lastUsedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Characters that a key may contain: it travels in a header. */
const PRINTABLE = /^[\x20-\x7e]+$/;

export const PROVIDER_KEY_RULE = `must have 1 to ${ACCOUNT_LIMITS.providerKey.chars} printable ASCII characters`;

/** Returns true when a text, already trimmed, can be a provider's key. */
export const isProviderKey = (text: string): boolean =>
  text.length <= ACCOUNT_LIMITS.providerKey.chars && PRINTABLE.test(text);

/** Returns the start of a key that may be shown: four characters, and never more than a quarter of the key. */
export const maskedPrefix = (key: string): string =>
  `${key.slice(0, Math.min(4, Math.floor(key.length / 4)))}...`;

/** Context that a key is sealed with: it opens for no other account and no other provider. */
export const sealedPlace = ({ accountId, provider }: Place): string =>
  JSON.stringify(['provider key', accountId, provider]);

/** Returns a stored key as routes show it. */
export const providerKeyRecord = (key: ProviderKey) => ({
  provider: key.provider,
  keyPrefix: key.prefix,
  label: key.label,
  enabled: key.enabled,
  createdBy: key.createdBy,
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  createdAt: key.createdAt.toISOString(),
  updatedAt: key.updatedAt.toISOString(),
});
