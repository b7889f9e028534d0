import type { ReservedSql } from 'postgres';
import { numberArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { graphKey, graphOf } from './vectors-store.ts';

/** Key of the advisory lock for graphs. Any number is possible, but all processes must have the same number. */
const GRAPH_LOCK = 4_021_412;

export type Graph = { readonly spaceId: number; readonly isValid: boolean };

/** Returns the existing graphs. A graph whose creation was interrupted is not valid. */
export async function listGraphs(sql: Queryable): Promise<readonly Graph[]> {
  return sql<Graph[]>`
    select substr(c.relname, 7)::int as "spaceId", i.indisvalid as "isValid"
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'memory_index.vectors'::regclass and c.relname ~ '^graph_[0-9]+$'`;
}

/** Returns spaces whose graphs are invalid, and deleted spaces that still have a graph. */
export async function findUselessGraphs(sql: Queryable): Promise<readonly number[]> {
  const found = await listGraphs(sql);
  if (found.length === 0) return [];
  const ids = found.map(({ spaceId }) => spaceId);
  const rows = await sql<{ id: number }[]>`
    select id from memory_spaces
    where id = any(${numberArray(ids)}::int[]) and deleted_at is null`;
  const living = new Set(rows.map(({ id }) => id));
  return found
    .filter(({ isValid, spaceId }) => !isValid || !living.has(spaceId))
    .map(({ spaceId }) => spaceId);
}

/** Counts the rows of a space and saves the count. */
export async function countRows(sql: Queryable, spaceId: number): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    update memory_index.spaces set row_count =
      (select count(*) from memory_index.vectors where space_id = ${spaceId})
    where space_id = ${spaceId} returning row_count as rows`;
  return row?.rows ?? 0;
}

/** Runs graph work on a reserved connection. Does nothing while this or another process runs graph work. */
export async function alone(sql: Sql, work: (own: ReservedSql) => Promise<void>): Promise<void> {
  const own = await sql.reserve();
  try {
    const [lock] = await own<{ mine: boolean }[]>`
      select pg_try_advisory_lock(${GRAPH_LOCK}) as mine`;
    if (lock?.mine !== true) return;
    try {
      await work(own);
    } finally {
      await own`select pg_advisory_unlock(${GRAPH_LOCK})`;
    }
  } finally {
    own.release();
  }
}

/**
 * Builds the graph index of a space while its rows are read and written. The statement may take minutes and can be cancelled.
 */
export const makeGraph = (
  own: ReservedSql,
  { dims, spaceId }: { readonly spaceId: number; readonly dims: number },
) =>
  own.unsafe(
    `create index concurrently ${graphOf(spaceId)} on memory_index.vectors
      using hnsw (${graphKey(dims)} halfvec_ip_ops) with (m = 16, ef_construction = 128)
      where space_id = ${Number(spaceId)}`,
  );

export async function dropGraph(own: ReservedSql, spaceId: number): Promise<void> {
  await own.unsafe(`drop index concurrently if exists memory_index.${graphOf(spaceId)}`);
}
