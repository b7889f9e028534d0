import { numberArray, textArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { IndexedRow } from '../index/pack-rows.ts';
import type { Found } from '../index/space-query.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import type { ItemType, Metadata } from '../memory-shape.ts';
import { wordQuery } from './word-query.ts';

/** Bounds of a query: the chunks of a namespace that it may find. */
export type SearchScope = {
  readonly spaceId: number;
  readonly type: ItemType | null;
  /** Terms that a chunk must all have. */
  readonly filter: readonly string[];
};

const ofType = (sql: Queryable, { type }: SearchScope) =>
  type === null ? sql`` : sql`and c.type = ${type}`;

const within = (sql: Queryable, scope: SearchScope) => sql`
  ${ofType(sql, scope)}
  ${scope.filter.length === 0 ? sql`` : sql`and c.terms @> ${textArray(scope.filter)}::text[]`}`;

/*
 * Words and terms contain their namespace, so that the index finds none of another namespace. PostgreSQL must use that index
 * whatever it estimates. The query's words are therefore in a materialized CTE, whose contents the planner does not know, so
 * that it expects few matches and does not read the table. And no index has the order below, so that the planner does not read
 * all ids from the newest on.
 */
const newest = (sql: Queryable) => sql`order by c.id + 0 desc`;

/**
 * Returns chunks by the words of a query: first chunks with all words, then chunks with any word, each by the number and
 * frequency of the words. Of more than `rankedMatches` chunks, only the newest are ranked. A query with a negation is used as
 * written. Scores are from 0 to 1.
 */
export async function findByWords(
  sql: Queryable,
  scope: SearchScope,
  query: string,
): Promise<Found[]> {
  const { candidates, rankedMatches } = MEMORY_LIMITS.query;
  const words = wordQuery(query);
  // Each chunk's text index contains its namespace as a word, so that the search reads only words of the namespace.
  const space = `'space ${scope.spaceId}'`;
  const matching = (which: 'every_word' | 'any_word') => sql`
    select c.id, c.words from asked join memory_chunks c
      on c.words @@ (asked.${sql(which)} && ${space}::tsquery) ${within(sql, scope)}`;
  const rows = await sql<Found[]>`
    with meant as (select websearch_to_tsquery('english', ${words}) as every_word),
    asked as materialized (
      select every_word, case when every_word::text like '%!%' then every_word
        else replace(every_word::text, '&', '|')::tsquery end as any_word
      from meant where numnode(every_word) > 0),
    with_all as materialized (
      ${matching('every_word')} ${newest(sql)} limit ${rankedMatches}),
    with_any as materialized (
      ${matching('any_word')}
      where asked.any_word <> asked.every_word and c.id not in (select id from with_all)
      ${newest(sql)} limit ${rankedMatches} - (select count(*) from with_all)),
    matches as (
      select id, words, 0.5 as least from with_all union all select id, words, 0 from with_any)
    select id::float8 as id,
      (least + ts_rank(words, any_word, 32) / 2)::float8 as score
    from matches, asked order by score desc, id desc limit ${candidates}`;
  return [...rows];
}

/** Returns chunks whose metadata contains words of a query, chunks with the most words first. */
export async function findByTerms(
  sql: Queryable,
  scope: SearchScope,
  terms: readonly string[],
): Promise<Found[]> {
  if (terms.length === 0) return [];
  const { candidates, rankedMatches } = MEMORY_LIMITS.query;
  const rows = await sql<Found[]>`
    with asked as materialized (select ${textArray(terms)}::text[] as any_term),
    matches as materialized (
      select c.id, c.terms from asked join memory_chunks c
        on c.terms && asked.any_term ${within(sql, scope)}
      ${newest(sql)} limit ${rankedMatches})
    select id::float8 as id,
      (select count(*) from unnest(terms) t where t = any(any_term))::float8
        / ${terms.length} as score
    from matches, asked order by score desc, id desc limit ${candidates}`;
  return [...rows];
}

/** Returns the newest chunks that pass a filter. */
export async function filterChunks(sql: Queryable, scope: SearchScope): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with asked as materialized (select ${textArray(scope.filter)}::text[] as all_terms)
    select c.id::float8 as id from asked join memory_chunks c
      on c.terms @> asked.all_terms and c.space_id = ${scope.spaceId} ${ofType(sql, scope)}
    ${newest(sql)} limit ${MEMORY_LIMITS.query.filteredChunks}`;
  return rows.map(({ id }) => id);
}

export type FoundChunk = {
  readonly id: number;
  readonly itemId: string;
  readonly content: string;
  readonly type: ItemType;
  readonly metadata: Metadata;
  readonly title: string | null;
  readonly createdAt: Date;
};

/** Returns chunks in their present state. Chunks that were deleted meanwhile are left out. */
export async function readChunks(
  sql: Queryable,
  spaceId: number,
  ids: readonly number[],
): Promise<readonly FoundChunk[]> {
  if (ids.length === 0) return [];
  return sql<FoundChunk[]>`
    select c.id::float8 as id, c.item_id as "itemId", c.content, c.type, i.metadata, i.title,
      i.created_at as "createdAt"
    from memory_chunks c join memory_items i on i.id = c.item_id
    join memory_spaces s on s.id = c.space_id and s.deleted_at is null
    where c.id = any(${numberArray(ids)}::bigint[]) and c.space_id = ${spaceId}`;
}

/** Returns true when a space has more than `most` chunks. Reads the index alone, up to one entry beyond `most`. */
export async function hasMoreChunks(
  sql: Queryable,
  spaceId: number,
  most: number,
): Promise<boolean> {
  const rows = await sql`
    select 1 from memory_chunks where space_id = ${spaceId} offset ${most} limit 1`;
  return rows.length > 0;
}

/** Runs a piece of work when it is the caller's turn. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Yields the vectors that were added to a space after one version and up to another, in pieces. Each piece is read in its turn.
 */
export async function* readVectors(
  sql: Sql,
  spaceId: number,
  { after, upTo }: { readonly after: number; readonly upTo: number },
  inTurn: InTurn,
): AsyncGenerator<readonly IndexedRow[]> {
  const { rowsPerRead } = MEMORY_LIMITS.sweep;
  const readBehind = (last: { readonly version: number; readonly id: number }) => sql<
    { id: number; version: number; type: ItemType; vector: Buffer }[]
  >`
    select c.id::float8 as id, c.version::float8 as version, c.type, c.vector
    from memory_chunks c where c.space_id = ${spaceId} and c.version <= ${upTo}
      and (c.version, c.id) > (${last.version}::bigint, ${last.id}::bigint)
    order by c.version, c.id limit ${rowsPerRead}`;
  let last = { version: after, id: Number.MAX_SAFE_INTEGER };
  for (;;) {
    const behind = last;
    const rows = await inTurn(async () => readBehind(behind));
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end;
    yield rows.map(({ id, type, vector }) => ({
      id,
      tag: TAGS[type],
      vector: vectorOf(vector),
    }));
    if (rows.length < rowsPerRead) return;
  }
}

export const TAGS: Readonly<Record<ItemType, number>> = { memory: 0, knowledge: 1 };

/** Copies the vector, because numbers of four bytes must begin at a multiple of four. */
export const vectorOf = ({ buffer, byteLength, byteOffset }: Buffer): Float32Array =>
  new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer);

/** Returns the chunks that were removed from a space after one version and up to another. */
export async function readRemovals(
  sql: Queryable,
  spaceId: number,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select unnest(chunk_ids)::float8 as id from memory_removals
    where space_id = ${spaceId} and version > ${after} and version <= ${upTo}`;
  return rows.map(({ id }) => id);
}

export type SpaceVersion = {
  readonly id: number;
  readonly agentId: number;
  readonly dims: number;
  readonly version: number;
  readonly forgottenVersion: number;
};

/** Returns the versions of the given spaces, without deleted spaces. */
export async function readVersions(
  sql: Queryable,
  spaceIds: readonly number[],
): Promise<readonly SpaceVersion[]> {
  return sql<SpaceVersion[]>`
    select id, agent_id as "agentId", dims, version::float8 as version, forgotten_version::float8 as "forgottenVersion"
    from memory_spaces
    where id = any(${numberArray(spaceIds)}::int[]) and deleted_at is null`;
}
