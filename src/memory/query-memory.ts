import type { FairQueue } from '../engines/threads/fair-queue.ts';
import { requestErrors } from '../http/route/errors.ts';
import { isoTime } from '../kernel/clock.ts';
import type { Sql } from '../platform/postgres/sql.ts';
import { type EmbeddedQuery, embedForQuery } from './embed-for-query.ts';
import { type Embedders, requireEmbedding, spaceOf } from './embedder.ts';
import type { Found } from './index/space-query.ts';
import { MEMORY_LIMITS } from './limits.ts';
import type { MemoryCaller } from './memory-caller.ts';
import type { Bodies } from './memory-shape.ts';
import { filterTerms, queryTerms } from './metadata.ts';
import type { Models, PurchaseCost } from './purchase/models.ts';
import { fuse } from './search/fuse.ts';
import {
  type FoundChunk,
  filterChunks,
  findByTerms,
  findByWords,
  readChunks,
  type SearchScope,
  TAGS,
} from './search/search-store.ts';
import { turnOf } from './search/turn-of.ts';
import type { VectorSearch } from './search/vector-search.ts';
import type { Space } from './space.ts';
import { findSpace } from './tenant-store.ts';

export type QueryDeps = {
  readonly sql: Sql;
  readonly embedders: Embedders;
  /** Undefined when the memory store may buy no models. */
  readonly models?: Models | undefined;
  readonly loader: VectorSearch;
  /** Queue of the agents that wait for the database. */
  readonly line: FairQueue;
};

type Query = Bodies['query'];

const TEXT = 'text';

/** Results of a query, and the bill of the purchase that it needed. */
type QueryAnswer = {
  readonly chunks: readonly object[];
  readonly bill?: PurchaseCost | undefined;
};

/** Returns the chunks of one namespace that match a query, best first. */
export async function queryMemory(
  deps: QueryDeps,
  caller: MemoryCaller,
  query: Query,
  signal: AbortSignal,
): Promise<QueryAnswer> {
  const { agentId } = caller;
  const needsVectors = query.mode !== 'keyword' && fieldsOf(query).includes(TEXT);
  const find = (subTenant: string | null) =>
    turnOf(deps.line, agentId, () => findSpace(deps.sql, agentId, subTenant));
  const space = await find(query.subTenantId ?? null);
  // A namespace that does not exist yet will have the fields of the default namespace.
  const schema = space?.schema ?? (await find(null))?.schema;
  checkFields(query, schema ?? {});
  if (needsVectors)
    requireEmbedding(deps.embedders, (space ?? spaceOf(deps.embedders.usual)).model);
  if (space === undefined) return { chunks: [] };
  // A space without vectors has nothing to compare, so that no vector of the query is bought.
  const asked =
    needsVectors && space.dims > 0
      ? await embedForQuery(deps, { caller, space, query: query.query, signal })
      : undefined;
  const rankings = await rank(deps, space, query, asked);
  signal.throwIfAborted();
  const found = fuse(rankings).slice(0, 2 * query.maxResults);
  const ids = found.map(({ id }) => id);
  const chunks = await turnOf(deps.line, agentId, () => readChunks(deps.sql, space.id, ids));
  const records = recordsOf(found, chunks, space).slice(0, query.maxResults);
  return { chunks: records, bill: asked?.bill };
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
  throw requestErrors.invalid(
    unknown.map((field) => ({
      path: ['queryBy'],
      message: `${field} is neither text nor a field of tenantMetadataSchema`,
      code: 'unknown_field',
    })),
  );
}

/** Returns one ranking for each requested way of searching. Fields of the metadata are searched by words in every mode. */
function rank(
  deps: QueryDeps,
  space: Space,
  query: Query,
  asked: EmbeddedQuery | undefined,
): Promise<readonly Found[][]> {
  const fields = fieldsOf(query).filter((field) => field !== TEXT);
  const byText = fieldsOf(query).includes(TEXT);
  const filter = filterTerms(space.id, query.filter ?? {});
  const inTurn = (find: () => Promise<Found[]>) => turnOf(deps.line, space.agentId, find);
  const scope: SearchScope = { spaceId: space.id, type: query.type ?? null, filter };
  const rankings: Promise<Found[]>[] = [];
  if (byText && query.mode !== 'semantic') {
    rankings.push(inTurn(() => findByWords(deps.sql, scope, query.query)));
  }
  if (asked !== undefined) rankings.push(findByVector(deps, space, scope, asked.vector));
  if (fields.length > 0) {
    const terms = queryTerms(space.id, fields, query.query);
    rankings.push(inTurn(() => findByTerms(deps.sql, scope, terms)));
  }
  return Promise.all(rankings);
}

async function findByVector(
  { line, loader, sql }: QueryDeps,
  space: Space,
  { filter, ...scope }: SearchScope,
  vector: Float32Array,
): Promise<Found[]> {
  const among =
    filter.length === 0
      ? undefined
      : await turnOf(line, space.agentId, () => filterChunks(sql, { ...scope, filter }));
  return loader.search(space, {
    vector,
    k: MEMORY_LIMITS.query.candidates,
    ...(scope.type === null ? {} : { tag: TAGS[scope.type] }),
    ...(among === undefined ? {} : { among }),
  });
}

/** Returns the found chunks as the caller reads them, in the order of `found`. */
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
