import { MEMORY_LIMITS } from '../limits.ts';
import type { Arena } from './arena.ts';
import { Best } from './best.ts';
import { type Candidates, Shortlist } from './shortlist.ts';
import type { Space, Steps } from './space.ts';
import type { Found, SpaceQuery } from './space-query.ts';

const { stepBytes: indexStepBytes } = MEMORY_LIMITS.index;
/**
 * Largest space in blocks that is brought into the cache whole. The next pages of larger ones are read during the
 * search.
 */
const TOUCHED_BLOCKS = 8;
const TOUCHED_ROWS = 32;

/**
 * Returns the best rows by their exact score: the highest first, of equal scores the lowest id. Undefined when the space was
 * dropped meanwhile. A pass over the coarse vectors leaves out rows that cannot be among the best; only the remaining rows are
 * scored exactly.
 */
export function* searchSpace(
  arena: Arena,
  space: Space,
  query: SpaceQuery,
): Steps<Found[] | undefined> {
  const { among, tag } = query;
  try {
    const candidates =
      among === undefined
        ? yield* likely(space, new Shortlist(arena, space, query))
        : yield* named(space, new Set(among), tag);
    return candidates && (yield* bestOf(arena, space, query, candidates))?.sorted();
  } finally {
    arena.wipeScratch(space.stride);
  }
}

/** Returns the rows with these ids and the tag. Each of these rows is scored. */
function* named(
  space: Space,
  ids: ReadonlySet<number>,
  tag: number | undefined,
): Steps<Candidates | undefined> {
  const found = yield* space.find(ids);
  const rows = found?.filter((row) => tag === undefined || space.tagAt(row) === tag);
  return rows && { rows, uppers: rows.map(() => Number.POSITIVE_INFINITY) };
}

/** Returns the rows that can be among the best; undefined when the space was dropped meanwhile. */
function* likely(space: Space, shortlist: Shortlist): Steps<Candidates | undefined> {
  const rowsAStep = Math.ceil(indexStepBytes / space.stride);
  if (space.blocks <= TOUCHED_BLOCKS) space.touch();
  for (let row = 0; row < space.rows; ) {
    row = shortlist.scan(row, Math.min(space.rows, row + rowsAStep));
    if (row >= space.rows) break;
    yield;
    if (space.isGone) return undefined;
  }
  return shortlist.candidates();
}

function* bestOf(
  arena: Arena,
  space: Space,
  { k, vector }: SpaceQuery,
  { rows, uppers }: Candidates,
): Steps<Best | undefined> {
  const best = new Best(k);
  const rowsAStep = Math.ceil(indexStepBytes / (space.stride * 4));
  for (let done = 0; done < rows.length; ) {
    arena.prepare(vector, space.stride);
    for (const row of rows.slice(done, done + TOUCHED_ROWS)) {
      const extent = space.extentOf(row);
      extent.touchExact(row - extent.first);
    }
    const end = Math.min(rows.length, done + rowsAStep);
    for (; done < end; done++) {
      if ((uppers[done] ?? 0) < best.least) continue;
      const row = rows[done] ?? 0;
      best.offer(space.scoreAt(row), space.idAt(row));
    }
    if (done >= rows.length) break;
    yield;
    if (space.isGone) return undefined;
  }
  return best;
}
