import type { FairLine } from '../engines/threads/fair-line.ts';
import { isoTime } from '../kernel/clock.ts';
import { errors } from '../kernel/errors.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import { type Embedder, embedQuery } from './embedder.ts';
import type { Found } from './index/space-query.ts';
import type { Bodies } from './memory-shape.ts';
import { filterTerms, queryTerms } from './metadata.ts';
import { fuse } from './search/fuse.ts';
import {
  type FoundChunk,
  filterChunks,
  findByTerms,
  findByWords,
  readChunks,
  type Scope,
  TAGS,
} from './search/search-store.ts';
import { turnOf } from './search/turn-of.ts';
import type { VectorSearch } from './search/vector-search.ts';
import type { Space } from './space.ts';
import { findSpace } from './tenant-store.ts';

export type QueryDeps = {
  readonly sql: Sql;
  readonly embedder: Embedder;
  readonly loader: VectorSearch;
  /** Where agents wait for the database. */
  readonly line: FairLine;
};

type Query = Bodies['query'];

const TEXT = 'text';

/** The chunks of one namespace that a query finds, best first. */
export async function queryMemory(
  deps: QueryDeps,
  agentId: number,
  query: Query,
  signal: AbortSignal,
): Promise<{ readonly chunks: readonly object[] }> {
  const needsVectors = query.mode !== 'keyword' && fieldsOf(query).includes(TEXT);
  if (needsVectors && deps.embedder.missing() !== undefined) throw errors.memory.vendorMissing();
  const find = (subTenant: string | null) =>
    turnOf(deps.line, agentId, () => findSpace(deps.sql, agentId, subTenant));
  const space = await find(query.subTenantId ?? null);
  // A namespace that is not there yet will have the fields of the default one.
  const schema = space?.schema ?? (await find(null))?.schema;
  checkFields(query, schema ?? {});
  if (space === undefined) return { chunks: [] };
  const rankings = await rank(deps, space, query);
  signal.throwIfAborted();
  const found = fuse(rankings).slice(0, 2 * query.maxResults);
  const ids = found.map(({ id }) => id);
  const chunks = await turnOf(deps.line, agentId, () => readChunks(deps.sql, space.id, ids));
  return { chunks: recordsOf(found, chunks, space).slice(0, query.maxResults) };
}

const fieldsOf = ({ queryBy }: Query): readonly string[] => {
  if (queryBy === null || queryBy === undefined) return [TEXT];
  return typeof queryBy === 'string' ? [queryBy] : queryBy;
};

function checkFields(query: Query, schema: Space['schema']): void {
  const unknown = fieldsOf(query).filter(
    (field) => field !== TEXT && !Object.hasOwn(schema, field),
  );
  if (unknown.length === 0) return;
  throw errors.request.invalid(
    unknown.map((field) => ({
      path: ['queryBy'],
      message: `${field} is neither text nor a field of tenantMetadataSchema`,
      code: 'unknown_field',
    })),
  );
}

/** One ranking for each way of searching that was asked for. Fields of the metadata are found by their words in every mode. */
function rank(deps: QueryDeps, space: Space, query: Query): Promise<readonly Found[][]> {
  const fields = fieldsOf(query).filter((field) => field !== TEXT);
  const byText = fieldsOf(query).includes(TEXT);
  const filter = filterTerms(space.id, query.filter ?? {});
  const inTurn = (find: () => Promise<Found[]>) => turnOf(deps.line, space.agentId, find);
  const scope: Scope = { spaceId: space.id, type: query.type ?? null, filter };
  const rankings: Promise<Found[]>[] = [];
  if (byText && query.mode !== 'semantic') {
    rankings.push(inTurn(() => findByWords(deps.sql, scope, query.query)));
  }
  if (byText && query.mode !== 'keyword') {
    rankings.push(findByVector(deps, space, scope, query.query));
  }
  if (fields.length > 0) {
    const terms = queryTerms(space.id, fields, query.query);
    rankings.push(inTurn(() => findByTerms(deps.sql, scope, terms)));
  }
  return Promise.all(rankings);
}

async function findByVector(
  { embedder, line, loader, sql }: QueryDeps,
  space: Space,
  { filter, ...scope }: Scope,
  query: string,
): Promise<Found[]> {
  const { agentId, model } = space;
  const [vector, among] = await Promise.all([
    embedQuery(embedder, { agentId, model, query: query.slice(0, LIMITS.engines.embedTextChars) }),
    filter.length === 0
      ? undefined
      : turnOf(line, agentId, () => filterChunks(sql, { ...scope, filter })),
  ]);
  return loader.search(space, {
    vector,
    k: LIMITS.memory.candidates,
    ...(scope.type === null ? {} : { tag: TAGS[scope.type] }),
    ...(among === undefined ? {} : { among }),
  });
}

/** What was found, as the caller reads it, in its order. */
function recordsOf(
  found: readonly Found[],
  chunks: readonly FoundChunk[],
  { subTenant }: Space,
): object[] {
  const byId = new Map(chunks.map((chunk) => [chunk.id, chunk]));
  return found.flatMap(({ id, score }) => {
    const chunk = byId.get(id);
    if (chunk === undefined) return [];
    const { content, createdAt, itemId, metadata, title, type } = chunk;
    return {
      id: itemId,
      chunk_content: content,
      score: Number(score.toFixed(6)),
      type,
      sub_tenant_id: subTenant,
      created_at: isoTime(createdAt.getTime()),
      metadata,
      ...(title === null ? {} : { title }),
    };
  });
}
