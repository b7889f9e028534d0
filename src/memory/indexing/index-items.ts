import { EngineBusy, EngineMissing } from '../../engines/engine.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Embedder } from '../embedder.ts';
import { termsOf } from '../metadata.ts';
import {
  type ClaimedItem,
  completeItems,
  type IndexedChunk,
  releaseItems,
} from './indexing-store.ts';
import { splitItem } from './split-text.ts';

/** How far the indexing of items has come: a test may hold it there, or end the process. */
export type IndexingStep = 'claimed' | 'embedded' | 'completed';

export type IndexItemsDeps = {
  readonly sql: Sql;
  readonly log: Log;
  readonly embedder: Embedder;
  readonly onStep?: ((step: IndexingStep) => Promise<void> | void) | undefined;
};

type Claimed = {
  readonly claim: string;
  readonly items: readonly ClaimedItem[];
  /** This process ends: what has not begun is left to the others. */
  readonly isOver: () => boolean;
};

type Piece = Omit<IndexedChunk, 'vector'>;

/**
 * Indexes claimed items of one namespace: cut, embedded and committed, some at a time. What cannot be embedded now is
 * given back. Rejects as the database does; the claim then ends by itself.
 */
export async function indexItems(
  deps: IndexItemsDeps,
  { claim, isOver, items }: Claimed,
): Promise<void> {
  await deps.onStep?.('claimed');
  for (const batch of batches(items)) {
    const ids = batch.items.map(({ id }) => id);
    if (isOver()) await releaseItems(deps.sql, { claim, ids }, { failed: false, waitMs: 0 });
    else await indexBatch(deps, claim, batch);
  }
}

type Batch = { readonly items: ClaimedItem[]; readonly pieces: Piece[] };

/** Items by the number of their pieces. One that has failed before is tried alone: it may be the fault of the others' failure. */
function batches(items: readonly ClaimedItem[]): Batch[] {
  const all: Batch[] = [];
  let open: Batch | undefined;
  for (const item of items) {
    const pieces = piecesOf(item);
    if (item.attempts > 0) {
      all.push({ items: [item], pieces });
      continue;
    }
    if (open === undefined || open.pieces.length >= LIMITS.memory.indexing.chunksPerCommit) {
      open = { items: [], pieces: [] };
      all.push(open);
    }
    open.items.push(item);
    open.pieces.push(...pieces);
  }
  return all;
}

function piecesOf(item: ClaimedItem): Piece[] {
  const terms = termsOf(item.spaceId, item.metadata);
  const { id: itemId, type } = item;
  return splitItem(item).map((content) => ({ itemId, type, content, terms }));
}

async function indexBatch(
  { embedder, log, onStep, sql }: IndexItemsDeps,
  claim: string,
  { items, pieces }: Batch,
): Promise<void> {
  const [first] = items;
  if (first === undefined) return;
  const { agentId, spaceId } = first;
  const ids = items.map(({ id }) => id);
  const { busyMs, retryMs } = LIMITS.memory.indexing;
  let vectors: readonly Float32Array[];
  try {
    const texts = pieces.map(({ content }) => content);
    if (first.model !== embedder.model) throw new EngineMissing(`no engine for ${first.model}`);
    vectors = await embedder.embed(texts, agentId);
  } catch (error) {
    // Neither says anything about the items.
    const failed = !(error instanceof EngineBusy || error instanceof EngineMissing);
    log.warn({ err: error, agentId, items: ids.length }, 'memories were not embedded');
    await releaseItems(sql, { claim, ids }, { failed, waitMs: failed ? retryMs : busyMs });
    return;
  }
  await onStep?.('embedded');
  const chunks = pieces.map((piece, n) => ({ ...piece, vector: vectors[n] ?? new Float32Array() }));
  await completeItems(sql, { claim, spaceId, ids }, chunks);
  await onStep?.('completed');
}
