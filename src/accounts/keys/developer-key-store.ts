import type { Queryable } from '../../platform/postgres/sql.ts';
import type { Role } from '../developers/role.ts';
import type { DeveloperKey, Permissions } from './key.ts';

type Row = {
  id: number;
  account_id: string;
  prefix: string;
  label: string | null;
  permissions: Permissions;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date | null;
  revoked_at: Date | null;
};

const toKey = (row: Row): DeveloperKey => ({
  id: row.id,
  prefix: row.prefix,
  label: row.label,
  permissions: row.permissions,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
  expiresAt: row.expires_at,
});

export type NewDeveloperKey = {
  readonly accountId: string;
  readonly digest: string;
  readonly prefix: string;
  readonly label: string | null;
  readonly permissions: Permissions;
  readonly expiresAt: Date | null;
  readonly rotatedFrom: number | null;
  /** Wallet of the member who issues the key. */
  readonly createdBy: string;
};

export async function insertDeveloperKey(
  tx: Queryable,
  key: NewDeveloperKey,
): Promise<DeveloperKey> {
  const [row] = await tx<Row[]>`
    insert into developer_keys
      (account_id, digest, prefix, label, permissions, expires_at, rotated_from, created_by)
    values (${key.accountId}, ${key.digest}, ${key.prefix}, ${key.label}, ${key.permissions},
      ${key.expiresAt}, ${key.rotatedFrom}, ${key.createdBy})
    returning *
  `;
  return toKey(row as Row);
}

/** Returns the account's keys that still work at `now`, oldest first. The cap on keys bounds their number. */
export async function findDeveloperKeys(
  sql: Queryable,
  accountId: string,
  now: Date,
): Promise<DeveloperKey[]> {
  const rows = await sql<Row[]>`
    select * from developer_keys
    where account_id = ${accountId} and revoked_at is null
      and (expires_at is null or expires_at > ${now})
    order by id
  `;
  return rows.map(toKey);
}

/** Revokes a key of the account. Undefined when the account has no such key or it was revoked before. */
export async function revokeDeveloperKey(
  tx: Queryable,
  accountId: string,
  keyId: number,
  now: Date,
): Promise<DeveloperKey | undefined> {
  const [row] = await tx<Row[]>`
    update developer_keys set revoked_at = ${now}
    where id = ${keyId} and account_id = ${accountId} and revoked_at is null
    returning *
  `;
  return row && toKey(row);
}

export type KnownDeveloperKey = {
  readonly keyId: number;
  readonly accountId: string;
  /** Wallet of the member who issued the key. */
  readonly wallet: string;
  /** The member's role at present. */
  readonly role: Role;
  readonly permissions: Permissions;
};

/** Returns the account and the issuer of a developer key that is valid at `now`. The key of a former member is not. */
export async function findDeveloperByDigest(
  sql: Queryable,
  digest: string,
  now: Date,
): Promise<KnownDeveloperKey | undefined> {
  const [row] = await sql<(Omit<KnownDeveloperKey, 'role'> & { readonly role: Role | null })[]>`
    select k.id as "keyId", k.account_id as "accountId", coalesce(k.created_by, d.wallet) as wallet,
      case when coalesce(k.created_by, d.wallet) = d.wallet then 'owner' else m.role end as role,
      k.permissions
    from developer_keys k join developers d using (account_id)
      left join members m on m.account_id = k.account_id and m.wallet = k.created_by
    where k.digest = ${digest} and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > ${now})
  `;
  return row?.role == null ? undefined : { ...row, role: row.role };
}
