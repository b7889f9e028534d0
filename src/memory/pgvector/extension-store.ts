import type { Queryable, Sql } from '../../platform/postgres/sql.ts';

/** Key of the advisory lock of the set-up. Any number is possible, but all processes must have the same number. */
const SETUP_LOCK = 4_021_411;

export type Extension = {
  /** Version of pgvector that the database server can install. */
  readonly available: string;
  /** Version of pgvector that this database has; null when it is not installed. */
  readonly installed: string | null;
};

/** Returns the versions of pgvector on the server; undefined: the server has none. */
export async function findExtension(sql: Queryable): Promise<Extension | undefined> {
  const [found] = await sql<Extension[]>`
    select default_version as available, installed_version as installed
    from pg_available_extensions where name = 'vector'`;
  return found;
}

export async function installExtension(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${SETUP_LOCK})`;
    await tx`create extension if not exists vector`;
  });
}

/** Returns true when statements find pgvector's types by name. They do not when it is in a schema off the search path. */
export async function seesTypes(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ seen: boolean }[]>`
    select to_regtype('vector') is not null and to_regtype('halfvec') is not null as seen`;
  return row?.seen === true;
}

/**
 * Creates the missing tables of the index. They have their own schema, because migrations must run without pgvector and
 * because a backup leaves out data that can be rebuilt from memory_chunks.
 */
export async function createTables(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${SETUP_LOCK})`;
    await tx`create schema if not exists memory_index`;
    // A vector of up to 2,000 numbers is stored in its row. Stored out of line (TOAST), each comparison would need a look-up.
    await tx`
      create table if not exists memory_index.vectors (
        chunk_id bigint primary key references public.memory_chunks (id) on delete cascade,
        space_id integer not null,
        tag smallint not null,
        embedding vector not null)
      with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02)`;
    await cleanGraphs(tx);
    await tx`
      create index if not exists vectors_space on memory_index.vectors (space_id, tag)`;
    // Progress of each space: chunks up to this version, and of this version up to this chunk, are in the table above.
    await tx`
      create table if not exists memory_index.spaces (
        space_id integer primary key references public.memory_spaces (id) on delete cascade,
        version bigint not null default 0,
        chunk_id bigint not null default 0,
        row_count integer not null default 0)`;
  });
}

/**
 * Makes a vacuum clean the table's indexes even when few pages have deleted rows; graphs would otherwise keep the numbers of
 * deleted rows. Changes the table once, and waits for a graph that is being made.
 */
async function cleanGraphs(tx: Queryable): Promise<void> {
  const [table] = await tx<{ isSet: boolean }[]>`
    select coalesce('vacuum_index_cleanup=on' = any(reloptions), false) as "isSet"
    from pg_class where oid = 'memory_index.vectors'::regclass`;
  if (table?.isSet === true) return;
  await tx`alter table memory_index.vectors set (vacuum_index_cleanup = on)`;
}
