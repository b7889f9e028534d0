/** Permission of a key: `read` only reads, `read_write` also changes and spends. */
export type Permissions = 'read' | 'read_write';

/** Prompt caching of a key. `auto`: this server adds `cache_control` for upstreams that need it, when the caller set none. */
export const PROMPT_CACHING = ['off', 'auto'] as const;
export type PromptCaching = (typeof PROMPT_CACHING)[number];

/** A stored key, without its secret: the secret is returned once, when the key is issued, and never stored. */
export type Key = {
  readonly id: number;
  /** First characters of the key, followed by three dots, by which a developer recognizes the key. */
  readonly prefix: string;
  readonly label: string | null;
  readonly permissions: Permissions;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

export type AgentKey = Key & {
  /** Id of the first key in the chain of rotations. The whole chain shares one budget. */
  readonly rootId: number;
  readonly promptCaching: PromptCaching;
};

export type DeveloperKey = Key & { readonly expiresAt: Date | null };

/** The account that owns the keys, and the wallet of the member who acts for the account. */
export type KeyOwner = { readonly accountId: string; readonly wallet: string };

export type KeyRequest = {
  readonly label?: string | undefined;
  readonly permissions?: Permissions | undefined;
  readonly expiresAt?: Date | undefined;
};

/** A newly issued key with its secret, which is never returned again. */
export type Issued<K> = { readonly record: K; readonly secret: string };

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

/** Returns a developer key as routes show it, in both published spellings. */
export const developerKeyRecord = (key: DeveloperKey) => ({
  id: key.id,
  keyId: String(key.id),
  keyPrefix: key.prefix,
  prefix: key.prefix,
  label: key.label,
  permissions: key.permissions,
  createdAt: key.createdAt.toISOString(),
  expiresAt: iso(key.expiresAt),
  lastUsedAt: iso(key.lastUsedAt),
});
