import { numberArray, textArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { IndexedRow } from '../index/pack-rows.ts';
import type { Found, SpaceQuery } from '../index/space-query.ts';

/** Returns a vector in pgvector's text format. */
const vectorText = (vector: Float32Array): string => `[${vector.join(',')}]`;

/** The last chunk of a space that is in the table, and its version. */
type Progress = { readonly version: number; readonly chunkId: number };

/** State of a space, read before a search. */
export type SpaceState = {
  /** Approximate number of rows in the space. */
  readonly rows: number;
  /** True when chunks of the space are missing from the table. */
  readonly isBehind: boolean;
  readonly hasGraph: boolean;
  /** Number of rows with the search's tag, counted up to one more than `upTo`. */
  readonly tagged: number;
};

export const graphOf = (spaceId: number): string => `graph_${spaceId}`;

/** Returns the state of a space; undefined when none of its chunks is in the table yet. */
export async function readState(
  sql: Queryable,
  spaceId: number,
  { tag, upTo }: { readonly tag: number | undefined; readonly upTo: number },
): Promise<SpaceState | undefined> {
  const [state] = await sql<SpaceState[]>`
    select s.row_count as rows,
      exists (select 1 from memory_chunks c where c.space_id = s.space_id
        and (c.version, c.id) > (s.version, s.chunk_id)) as "isBehind",
      exists (select 1 from pg_index i where i.indisvalid
        and i.indexrelid = to_regclass(${`memory_index.${graphOf(spaceId)}`})) as "hasGraph",
      (select count(*)::int from (select 1 from memory_index.vectors v
        where v.space_id = s.space_id and v.tag = ${tag ?? null}::smallint
        limit ${tag === undefined ? 0 : upTo + 1}) t) as tagged
    from memory_index.spaces s where s.space_id = ${spaceId}`;
  return state;
}

/** Compares the query's vector exactly with every row of a space that the query's filters allow. */
export async function compareAll(
  sql: Queryable,
  spaceId: number,
  { among, k, tag, vector }: SpaceQuery,
): Promise<Found[]> {
  const asked = vectorText(vector);
  const rows = await sql<Found[]>`
    select chunk_id::float8 as id, -(embedding <#> ${asked}::vector) as score
    from memory_index.vectors where space_id = ${spaceId}
      ${tag === undefined ? sql`` : sql`and tag = ${tag}`}
      ${among === undefined ? sql`` : sql`and chunk_id = any(${numberArray(among)}::bigint[])`}
    order by embedding <#> ${asked}::vector, chunk_id limit ${k}`;
  return [...rows];
}

/**
 * Searches the graph of a space for the nearest rows by half-precision numbers, some more rows than requested, and orders them
 * by full-precision numbers.
 */
export async function searchGraph(
  sql: Sql,
  { dims, id }: { readonly id: number; readonly dims: number },
  { k, tag, vector }: Omit<SpaceQuery, 'among'>,
): Promise<Found[]> {
  const nearest = Math.ceil(1.25 * k) + 10;
  const looked = Math.min(1_000, Math.max(100, 2 * nearest));
  return sql.begin('read only', async (tx) => {
    // Sorting is the alternative plan, which compares every row. The sort of the found rows is needed all the same, at an
    // estimated cost by which the server would compile each search, for a tenth of a second.
    await tx`
      select set_config('hnsw.ef_search', ${String(looked)}, true),
        set_config('hnsw.iterative_scan', 'strict_order', true),
        set_config('enable_sort', 'off', true), set_config('enable_seqscan', 'off', true),
        set_config('jit', 'off', true)`;
    // The planner uses the graph of a space only when the statement contains the space's number. The statement therefore
    // differs for each space, and must not stay prepared.
    const rows = await tx.unsafe<Found[]>(
      `with near as materialized (
        select chunk_id, embedding from memory_index.vectors
        where space_id = ${Number(id)} ${tag === undefined ? '' : `and tag = ${Number(tag)}`}
        order by ${graphKey(dims)} <#> $1::vector::halfvec(${Number(dims)}) limit $2)
      select chunk_id::float8 as id, -(embedding <#> $1::vector) as score
      from near order by embedding <#> $1::vector, chunk_id limit $3`,
      [vectorText(vector), nearest, k],
      { prepare: false },
    );
    return [...rows];
  });
}

/** Returns the expression that the graph of a space indexes: two bytes for each number of a row. */
export const graphKey = (dims: number): string => `(embedding::halfvec(${Number(dims)}))`;

/**
 * Locks and returns the progress of a space until the sql transaction ends; undefined: another process is filling it,
 * or the space has no entry.
 */
export async function lockProgress(tx: Queryable, spaceId: number): Promise<Progress | undefined> {
  const [progress] = await tx<Progress[]>`
    select version::float8 as version, chunk_id::float8 as "chunkId"
    from memory_index.spaces where space_id = ${spaceId} for update skip locked`;
  return progress;
}

/** Inserts the entry of a space. A deleted space gets no entry. */
export async function addSpace(sql: Queryable, spaceId: number): Promise<void> {
  await sql`
    insert into memory_index.spaces (space_id)
    select id from memory_spaces where id = ${spaceId} on conflict do nothing`;
}

/** Returns true when chunks of a space from before the version `before` are missing. */
export async function lacksBefore(
  sql: Queryable,
  spaceId: number,
  { chunkId, version }: Progress,
  before: number,
): Promise<boolean> {
  const rows = await sql`
    select 1 from memory_chunks where space_id = ${spaceId} and version < ${before}
      and (version, id) > (${version}::bigint, ${chunkId}::bigint) limit 1`;
  return rows.length > 0;
}

export type MissingChunk = {
  readonly id: number;
  readonly version: number;
  readonly type: string;
  readonly vector: Buffer;
};

/** Returns the next missing chunks, locked so that they cannot be deleted until the sql transaction ends. */
export async function lockMissing(
  tx: Queryable,
  spaceId: number,
  { chunkId, version }: Progress,
  most: number,
): Promise<readonly MissingChunk[]> {
  return tx<MissingChunk[]>`
    select id::float8 as id, version::float8 as version, type, vector from memory_chunks
    where space_id = ${spaceId} and (version, id) > (${version}::bigint, ${chunkId}::bigint)
    order by version, id limit ${most} for key share`;
}

export async function insertVectors(
  tx: Queryable,
  spaceId: number,
  rows: readonly IndexedRow[],
  upTo: Progress,
): Promise<void> {
  await tx`
    insert into memory_index.vectors (chunk_id, space_id, tag, embedding)
    select x.id, ${spaceId}, x.tag, x.embedding::vector
    from unnest(${numberArray(rows.map(({ id }) => id))}::bigint[],
      ${numberArray(rows.map(({ tag }) => tag))}::smallint[],
      ${textArray(rows.map(({ vector }) => vectorText(vector)))}::text[])
      as x(id, tag, embedding)
    on conflict do nothing`;
  await tx`
    update memory_index.spaces
    set version = ${upTo.version}, chunk_id = ${upTo.chunkId}, row_count = row_count + ${rows.length}
    where space_id = ${spaceId}`;
}

export type LookedAt = {
  readonly id: number;
  readonly dims: number;
  readonly isBehind: boolean;
  readonly rows: number;
};

/** Returns some living spaces after the space `after`, in the order of their numbers. */
export async function lookAt(
  sql: Queryable,
  { after, most }: { readonly after: number; readonly most: number },
): Promise<readonly LookedAt[]> {
  return sql<LookedAt[]>`
    select s.id, s.dims, coalesce(v.row_count, 0) as rows,
      exists (select 1 from memory_chunks c where c.space_id = s.id
        and (c.version, c.id) > (coalesce(v.version, 0), coalesce(v.chunk_id, 0))) as "isBehind"
    from (select id, dims from memory_spaces where id > ${after} and deleted_at is null
      order by id limit ${most}) s
    left join memory_index.spaces v on v.space_id = s.id
    order by s.id`;
}
