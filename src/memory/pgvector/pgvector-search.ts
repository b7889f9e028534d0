import type { FairQueue } from '../../engines/threads/fair-queue.ts';
import { ApiError } from '../../kernel/api-error.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Found, SpaceQuery } from '../index/space-query.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import type { SpaceVersion } from '../search/search-store.ts';
import { turnOf } from '../search/turn-of.ts';
import type { VectorSearch } from '../search/vector-search.ts';
import { compareAll, readState, type SpaceState, searchGraph } from './vectors-store.ts';

export type PgvectorSearchDeps = {
  readonly sql: Sql;
  /** Index in memory. It serves the spaces that the database has not indexed yet, and loads no other spaces. */
  readonly packed: VectorSearch;
  /** Queue of the agents that wait for the database. */
  readonly line: FairQueue;
  /** Fills the spaces that a search requested. */
  readonly keeper: { want(spaceId: number): void };
  /** Number of rows of a space up to which every row is compared. */
  readonly comparedRows?: number;
};

type Way = 'compare' | 'graph' | 'packed';

type Answer = { readonly found: Found[]; readonly isAll: boolean };

/** Creates a vector search that runs in the database with pgvector. */
export function createPgvectorSearch(deps: PgvectorSearchDeps): VectorSearch {
  const { keeper, line, packed, sql } = deps;
  const comparedRows = deps.comparedRows ?? MEMORY_LIMITS.pgvector.comparedRows;

  /** Returns the rows that the database finds; undefined when it cannot search the space now. */
  async function ask(space: SpaceVersion, query: SpaceQuery): Promise<Answer | undefined> {
    const state = await readState(sql, space.id, { tag: query.tag, upTo: comparedRows });
    if (state === undefined || state.isBehind) keeper.want(space.id);
    const way = wayOf(state, query, comparedRows);
    if (way === 'packed') return undefined;
    if (way === 'compare') return { found: await compareAll(sql, space.id, query), isAll: true };
    const found = await searchGraph(sql, space, query);
    // A graph search may stop early when many rows have another tag or are deleted.
    return { found, isAll: found.length >= query.k };
  }

  return {
    async search(space, query) {
      const answer = await turnOf(line, space.agentId, () => ask(space, query));
      if (answer?.isAll === true) return answer.found;
      try {
        return await packed.search(space, query);
      } catch (error) {
        // An incomplete result is better for the client than a refusal.
        if (error instanceof ApiError && answer !== undefined) return answer.found;
        throw error;
      }
    },
    // Rows in the database are deleted in the commit that deletes the chunks, so that only the index in memory follows.
    follow: (space) => packed.follow(space),
    followAll: () => packed.followAll(),
    drop: (spaceId) => packed.drop(spaceId),
  };
}

function wayOf(state: SpaceState | undefined, query: SpaceQuery, comparedRows: number): Way {
  if (state === undefined || state.isBehind) return 'packed';
  const { among, tag } = query;
  const isSmall = state.rows <= comparedRows || (tag !== undefined && state.tagged <= comparedRows);
  if (among !== undefined || isSmall) return 'compare';
  return state.hasGraph ? 'graph' : 'packed';
}
