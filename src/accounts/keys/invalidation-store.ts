import { assert } from '../../kernel/assert.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import type { Invalidation, Notice } from './invalidation.ts';

export type StoredInvalidation = {
  readonly id: bigint;
  readonly notice: Notice;
};

type Row = { id: bigint; kind: string; agent_id: number | null; key_id: number | null };

/** Inserts notices in the sql transaction of the change that they announce. Returns them with their ids. */
export async function insertInvalidations(
  tx: Queryable,
  notices: readonly Invalidation[],
): Promise<StoredInvalidation[]> {
  const agentIds = notices.map((notice) => ('agentId' in notice ? String(notice.agentId) : null));
  const keyIds = notices.map((notice) => ('keyId' in notice ? String(notice.keyId) : null));
  const rows = await tx<{ id: bigint }[]>`
    insert into invalidations (kind, agent_id, key_id)
    select n.kind, n.agent, n.key
    from unnest(${notices.map(({ kind }) => kind)}::text[], ${agentIds}::integer[], ${keyIds}::integer[])
      with ordinality as n(kind, agent, key, nr)
    order by n.nr
    returning id
  `;
  assert(rows.length === notices.length, 'an insert returns its rows');
  return rows.map(({ id }, i) => ({ id, notice: notices[i] as Invalidation }));
}

/** Returns the newest id up to which no further notice can appear. */
export async function findSettledId(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ id: bigint | null }[]>`
    select max(id) as id from invalidations
    where at < clock_timestamp() - ${ACCOUNT_LIMITS.invalidation.overlapMs} * interval '1 millisecond'
  `;
  return row?.id ?? 0n;
}

/** Returns the next notices after `floor` that are not in `seen`, oldest first, up to one batch. */
export async function findInvalidations(
  sql: Sql,
  floor: bigint,
  seen: readonly bigint[],
): Promise<StoredInvalidation[]> {
  const rows = await sql<Row[]>`
    select id, kind, agent_id, key_id from invalidations
    where id > ${String(floor)}::bigint and not (id = any (${seen.map(String)}::bigint[]))
    order by id
    limit ${ACCOUNT_LIMITS.invalidation.batch}
  `;
  return rows.map((row) => ({ id: row.id, notice: toNotice(row) }));
}

/** Returns the notice of a row. A kind that is unknown here was written by a newer server, and counts as `everything`. */
function toNotice(row: Row): Notice {
  const { kind, agent_id: agentId, key_id: keyId } = row;
  if (kind === 'developer_key_revoked' && keyId !== null) return { kind, keyId };
  if (kind === 'agent_key_revoked' && agentId !== null && keyId !== null) {
    return { kind, agentId, keyId };
  }
  if ((kind === 'agent_changed' || kind === 'agent_stopped') && agentId !== null)
    return { kind, agentId };
  return { kind: 'everything' };
}

/** Deletes a batch of notices older than `ACCOUNT_LIMITS.invalidation.retentionMs`, which every running process has read. */
export async function pruneInvalidations(sql: Sql): Promise<void> {
  await sql`
    delete from invalidations where id in (
      select id from invalidations
      where at < clock_timestamp() - ${ACCOUNT_LIMITS.invalidation.retentionMs} * interval '1 millisecond'
      limit ${ACCOUNT_LIMITS.invalidation.batch}
    )
  `;
}
