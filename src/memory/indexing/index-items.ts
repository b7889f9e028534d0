import { EngineBusy, EngineMissing } from '../../engines/engine.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import { termsOf } from '../metadata.ts';
import { indexPurchased } from './index-purchased.ts';
import type { IndexItemsDeps } from './indexing-deps.ts';
import {
  type ClaimedItem,
  completeItems,
  type IndexedChunk,
  releaseItems,
} from './indexing-store.ts';
import { engineOf, type Piece, withVectors } from './pieces.ts';
import { splitItem } from './split-text.ts';

type Claimed = {
  readonly claim: string;
  readonly items: readonly ClaimedItem[];
  /** Returns true when this process ends. Work that has not begun is left to other processes. */
  readonly isOver: () => boolean;
};

/**
 * Indexes claimed items of one namespace: cuts, embeds and commits some items at a time. Items that cannot be embedded now are
 * released. Rejects as the database does; the claim then expires by itself.
 */
export async function indexItems(
  deps: IndexItemsDeps,
  { claim, isOver, items }: Claimed,
): Promise<void> {
  await deps.onStep?.('claimed');
  const free = items.filter((item) => !mustBuy(deps, item));
  const bought = items.filter((item) => mustBuy(deps, item));
  await Promise.all(
    bought.map((item) => {
      if (!isOver()) return indexPurchased(deps, claim, item);
      const ids = [item.id];
      return releaseItems(deps.sql, { claim, ids }, { failed: false, waitMs: 0 });
    }),
  );
  for await (const batch of batches(free)) {
    const ids = batch.items.map(({ id }) => id);
    if (isOver()) await releaseItems(deps.sql, { claim, ids }, { failed: false, waitMs: 0 });
    else await indexBatch(deps, claim, batch);
  }
}

/** Returns true when indexing an item needs a purchase, or has made one under earlier settings of the server. */
const mustBuy = (
  { embedders, shop }: IndexItemsDeps,
  { hasPurchases, infer, model }: ClaimedItem,
): boolean =>
  shop !== undefined &&
  (hasPurchases ||
    (infer && shop.inferModel !== undefined) ||
    embedders.of(model)?.kind === 'bought');

type Batch = { readonly items: ClaimedItem[]; readonly pieces: Piece[] };

/**
 * Yields batches of items, bounded by the number of their pieces. An item that has failed before is a batch of its own, because
 * it may have caused the other items' failure.
 */
async function* batches(items: readonly ClaimedItem[]): AsyncGenerator<Batch> {
  let open: Batch = { items: [], pieces: [] };
  for (const item of items) {
    // Cutting a long document takes some milliseconds, so that the event loop gets a turn between items.
    await turnForLongWork();
    const { id: itemId, type } = item;
    const pieces = splitItem(item).map((content) => ({ itemId, type, content }));
    if (item.attempts > 0) {
      yield { items: [item], pieces };
      continue;
    }
    open.items.push(item);
    open.pieces.push(...pieces);
    if (open.pieces.length < MEMORY_LIMITS.indexing.chunksPerCommit) continue;
    yield open;
    open = { items: [], pieces: [] };
  }
  if (open.items.length > 0) yield open;
}

async function indexBatch(
  { embedders, indexed, log, onChunks, onStep, sql }: IndexItemsDeps,
  claim: string,
  { items, pieces }: Batch,
): Promise<void> {
  const [first] = items;
  if (first === undefined) return;
  const { agentId, spaceId } = first;
  const ids = items.map(({ id }) => id);
  const { busyMs, retryMs } = MEMORY_LIMITS.indexing;
  let chunks: readonly IndexedChunk[];
  try {
    const texts = pieces.map(({ content }) => content);
    const embedder = engineOf(embedders, first.model);
    chunks = withVectors(pieces, await embedder.embed(texts, agentId));
  } catch (error) {
    // A busy or missing engine is not the items' fault.
    const failed = !(error instanceof EngineBusy || error instanceof EngineMissing);
    indexed.add(ids.length, { outcome: failed ? 'failed' : 'busy' });
    log.warn({ err: error, agentId, items: ids.length }, 'memories were not embedded');
    await releaseItems(sql, { claim, ids }, { failed, waitMs: failed ? retryMs : busyMs });
    return;
  }
  await onStep?.('embedded');
  const terms = new Map(items.map(({ id, metadata }) => [id, termsOf(spaceId, metadata)]));
  const completed = await completeItems(sql, { claim, spaceId, terms }, chunks, onChunks);
  indexed.add(completed, { outcome: 'completed' });
  await onStep?.('completed');
}
