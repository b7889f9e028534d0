import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import { TAGS, vectorOf } from '../search/search-store.ts';
import {
  addSpace,
  insertVectors,
  lacksBefore,
  lockMissing,
  lockProgress,
  type MissingChunk,
} from './vectors-store.ts';

const { rowsPerFill } = MEMORY_LIMITS.pgvector;

/**
 * Adds the chunks that this sql transaction has written, at this version of their space, to the index in the database. Does
 * nothing when chunks of earlier versions are missing or another process fills the space; `fillSpace` then adds them in the
 * order of their versions.
 */
export async function fillInCommit(
  tx: Queryable,
  { spaceId, version }: { readonly spaceId: number; readonly version: number },
): Promise<void> {
  await addSpace(tx, spaceId);
  for (;;) {
    const progress = await lockProgress(tx, spaceId);
    // This must not wait for locked chunks of earlier commits: a transaction that deletes them may wait for this one, a
    // deadlock.
    if (progress === undefined || (await lacksBefore(tx, spaceId, progress, version))) return;
    const missing = await lockMissing(tx, spaceId, progress, rowsPerFill);
    await insert(tx, spaceId, missing);
    if (missing.length < rowsPerFill) return;
  }
}

/** Adds some missing chunks of a space to the index in the database. Resolves to true when more may be missing. */
export async function fillSpace(sql: Sql, spaceId: number): Promise<boolean> {
  await addSpace(sql, spaceId);
  return sql.begin(async (tx) => {
    const progress = await lockProgress(tx, spaceId);
    if (progress === undefined) return false;
    const missing = await lockMissing(tx, spaceId, progress, rowsPerFill);
    await insert(tx, spaceId, missing);
    return missing.length > 0;
  });
}

async function insert(
  tx: Queryable,
  spaceId: number,
  missing: readonly MissingChunk[],
): Promise<void> {
  const last = missing.at(-1);
  if (last === undefined) return;
  const rows = missing
    .map(({ id, type, vector }) => ({
      id,
      tag: TAGS[type as keyof typeof TAGS],
      vector: vectorOf(vector),
    }))
    // The server refuses a vector without numbers, and the whole commit with it.
    .filter(({ vector }) => vector.length > 0 && vector.every(Number.isFinite));
  await insertVectors(tx, spaceId, rows, { version: last.version, chunkId: last.id });
}
