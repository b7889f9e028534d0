/** Permission of a key: `read` only reads, `read_write` also changes and spends. */
export type Permissions = 'read' | 'read_write';

/** `auto`: this server marks prompts for the caches of upstreams that need marks, where the caller has set none. */
export const PROMPT_CACHING = ['off', 'auto'] as const;
export type PromptCaching = (typeof PROMPT_CACHING)[number];

/** A stored key. The secret itself is shown once, when it is made, and kept nowhere. */
export type Key = {
  readonly id: number;
  /** The recognisable start and three dots. */
  readonly prefix: string;
  readonly label: string | null;
  readonly permissions: Permissions;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

export type AgentKey = Key & {
  /** The first key of its line of rotations, whose budget it has. */
  readonly rootId: number;
  readonly promptCaching: PromptCaching;
};

export type DeveloperKey = Key & { readonly expiresAt: Date | null };

/** The account that owns the keys, and the wallet that acts for the account. */
export type KeyOwner = { readonly accountId: string; readonly wallet: string };

export type KeyRequest = {
  readonly label?: string | undefined;
  readonly permissions?: Permissions | undefined;
  readonly expiresAt?: Date | undefined;
};

/** A key with its secret: the only time that the secret is seen. */
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
