import type { Sql } from '../../platform/postgres/sql.ts';

const TABLES = {
  agent: 'agent_keys',
  developer: 'developer_keys',
  provider: 'provider_keys',
} as const;

export type KeyKind = keyof typeof TABLES;

/**
 * Raises `last_used_at` of many keys in one statement; never lowers it. Rows are locked in the order of their ids, so that
 * processes that write the same keys never deadlock.
 */
export async function saveKeyUses(
  sql: Sql,
  kind: KeyKind,
  uses: ReadonlyMap<number, number>,
): Promise<void> {
  const table = sql(TABLES[kind]);
  const ids = [...uses.keys()];
  const seconds = [...uses.values()].map((ms) => ms / 1_000);
  await sql`
    with locked as materialized (
      select id from ${table} where id = any(${ids}::int[]) order by id for no key update
    )
    update ${table} as k
    set last_used_at = greatest(k.last_used_at, to_timestamp(u.seconds))
    from unnest(${ids}::int[], ${seconds}::float8[]) as u (id, seconds), locked
    where k.id = u.id and locked.id = k.id
  `;
}
