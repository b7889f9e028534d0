import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Place, ProviderKey } from './provider-key.ts';

type Row = {
  id: number;
  provider: string;
  key_prefix: string;
  label: string | null;
  enabled: boolean;
  created_by: string;
  last_used_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

/** Columns that may be shown; the sealed key is not among them. */
const shown = (sql: Queryable) =>
  sql`id, provider, key_prefix, label, enabled, created_by, last_used_at, created_at, updated_at`;

const toKey = (row: Row): ProviderKey => ({
  id: row.id,
  provider: row.provider,
  prefix: row.key_prefix,
  label: row.label,
  enabled: row.enabled,
  createdBy: row.created_by,
  lastUsedAt: row.last_used_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export type NewProviderKey = Place & {
  readonly sealedKey: Uint8Array;
  readonly prefix: string;
  /** Label of the key. Undefined: the label of the replaced key stays. */
  readonly label: string | null | undefined;
  readonly createdBy: string;
};

/** Returns the keys of an account: one for each provider, so that the catalogue bounds their number. */
export async function findProviderKeys(sql: Queryable, accountId: string): Promise<ProviderKey[]> {
  const rows = await sql<Row[]>`
    select ${shown(sql)} from provider_keys where account_id = ${accountId} order by provider
  `;
  return rows.map(toKey);
}

/** Replaces the key that is stored in a place by another key, enabled and not used yet. */
export async function replaceProviderKey(
  tx: Queryable,
  key: NewProviderKey,
): Promise<ProviderKey | undefined> {
  const [row] = await tx<Row[]>`
    update provider_keys
    set sealed_key = ${Buffer.from(key.sealedKey)}, key_prefix = ${key.prefix},
      label = ${key.label === undefined ? tx`label` : key.label},
      enabled = true, last_used_at = null, updated_at = now()
    where account_id = ${key.accountId} and provider = ${key.provider}
    returning ${shown(tx)}
  `;
  return row && toKey(row);
}

export async function insertProviderKey(tx: Queryable, key: NewProviderKey): Promise<ProviderKey> {
  const [row] = await tx<Row[]>`
    insert into provider_keys (account_id, provider, sealed_key, key_prefix, label, created_by)
    values (${key.accountId}, ${key.provider}, ${Buffer.from(key.sealedKey)}, ${key.prefix},
      ${key.label ?? null}, ${key.createdBy})
    returning ${shown(tx)}
  `;
  return toKey(row as Row);
}

/** Returns the key that is stored in a place, and locks it until the sql transaction ends. */
export async function lockProviderKey(
  tx: Queryable,
  { accountId, provider }: Place,
): Promise<ProviderKey | undefined> {
  const [row] = await tx<Row[]>`
    select ${shown(tx)} from provider_keys
    where account_id = ${accountId} and provider = ${provider} for no key update
  `;
  return row && toKey(row);
}

export async function saveEnabled(
  tx: Queryable,
  { accountId, provider }: Place,
  enabled: boolean,
): Promise<void> {
  await tx`
    update provider_keys set enabled = ${enabled}, updated_at = now()
    where account_id = ${accountId} and provider = ${provider}
  `;
}

export async function deleteProviderKey(
  tx: Queryable,
  { accountId, provider }: Place,
): Promise<ProviderKey | undefined> {
  const [row] = await tx<Row[]>`
    delete from provider_keys where account_id = ${accountId} and provider = ${provider}
    returning ${shown(tx)}
  `;
  return row && toKey(row);
}

/** Returns the enabled keys of an account in sealed form. */
export async function findSealedKeys(
  sql: Queryable,
  accountId: string,
): Promise<{ readonly id: number; readonly provider: string; readonly sealedKey: Uint8Array }[]> {
  const rows = await sql<{ id: number; provider: string; sealed_key: Uint8Array }[]>`
    select id, provider, sealed_key from provider_keys where account_id = ${accountId} and enabled
  `;
  return rows.map(({ id, provider, sealed_key: sealedKey }) => ({ id, provider, sealedKey }));
}
