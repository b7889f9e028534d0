import { ApiError } from '../../kernel/api-error.ts';
import { assert } from '../../kernel/assert.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Log } from '../../kernel/log.ts';
import type { Counter } from '../../kernel/metrics.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Embedders } from '../embedder.ts';
import { termsOf } from '../metadata.ts';
import { type BuyOnceDeps, buyOnce } from '../purchase/buy-once.ts';
import { areSearchable, factsCodec, vectorCodec } from '../purchase/codecs.ts';
import { FACTS_SYSTEM, factsPrompt, NoFacts, readFacts } from '../purchase/draw-facts.ts';
import { ModelRefused, type Models } from '../purchase/models.ts';
import { setbackOf } from '../purchase/setback.ts';
import {
  type Bought,
  type ClaimedItem,
  completeItems,
  type IndexedChunk,
  type OnChunks,
  refuseItem,
  releaseItems,
} from './indexing-store.ts';
import { engineOf, type Piece, withVectors } from './pieces.ts';
import { splitItem } from './split-text.ts';

/** What indexing buys, and of whom. */
export type IndexingShop = Pick<BuyOnceDeps, 'random' | 'works'> & {
  readonly models: Models;
  /** The chat model that draws facts out of texts with `infer`; undefined: fixed rules do. */
  readonly inferModel: string | undefined;
};

type IndexBoughtDeps = {
  readonly sql: Sql;
  readonly log: Log;
  readonly embedders: Embedders;
  readonly shop?: IndexingShop | undefined;
  readonly indexed: Counter;
  readonly onChunks?: OnChunks | undefined;
  readonly onStep?: ((step: 'embedded' | 'completed') => Promise<void> | void) | undefined;
};

type Deps = IndexBoughtDeps & { readonly shop: IndexingShop };

/** No client waits for indexing: a purchase ends by its own limits. */
const NEVER = new AbortController().signal;

/**
 * Indexes an item that a purchase is needed for: its facts, its vectors or both, each bought once. What is not sold now is
 * given back, with the reason. Rejects as the database does; the claim then ends by itself.
 */
export async function indexBought(
  deps: IndexBoughtDeps,
  claim: string,
  item: ClaimedItem,
): Promise<void> {
  const { indexed, onChunks, onStep, shop, sql } = deps;
  assert(shop !== undefined, 'what must be bought has a seller');
  const { id, metadata, spaceId } = item;
  try {
    const { bought, pieces } = await cut({ ...deps, shop }, claim, item);
    const { chunks, costRaw } = await embed({ ...deps, shop }, claim, item, pieces);
    await onStep?.('embedded');
    const terms = new Map([[id, termsOf(spaceId, metadata)]]);
    const all = { ...bought, costRaw: bought.costRaw + costRaw };
    const done = { claim, spaceId, terms, bought: all };
    const completed = await completeItems(sql, done, chunks, onChunks);
    indexed.add(completed, { outcome: 'completed' });
  } catch (error) {
    await giveBack(deps, { claim, item }, error);
    return;
  }
  await onStep?.('completed');
}

/** The pieces of an item: the facts that a model draws out of it where one is to, else those of the fixed rules. */
async function cut(
  deps: Deps,
  claim: string,
  item: ClaimedItem,
): Promise<{ readonly pieces: readonly Piece[]; readonly bought: Bought }> {
  const { id: itemId, infer, type } = item;
  const { inferModel: model } = deps.shop;
  const piecesOf = (contents: readonly string[]): Piece[] =>
    contents.map((content) => ({ itemId, type, content }));
  const local = { costRaw: 0n, inferredBy: null, inferError: null };
  if (!infer || model === undefined) return { pieces: piecesOf(splitItem(item)), bought: local };
  try {
    const { costRaw, result } = await drawFacts(deps, claim, item, model);
    return { pieces: piecesOf(result), bought: { costRaw, inferredBy: model, inferError: null } };
  } catch (error) {
    const inferError = whyLocal(error);
    if (inferError === undefined) throw error;
    deps.log.warn({ err: error, agentId: item.agentId }, 'facts were drawn by the fixed rules');
    const bought = { costRaw: 0n, inferredBy: 'local', inferError };
    return { pieces: piecesOf(splitItem(item)), bought };
  }
}

/** Why the fixed rules draw the facts in place of a model; undefined: the item is to be tried again instead. */
function whyLocal(error: unknown): string | undefined {
  if (error instanceof NoFacts) return 'unreadable_answer';
  if (!(error instanceof ApiError || error instanceof ModelRefused)) return undefined;
  const setback = setbackOf(error);
  return 'reason' in setback ? setback.reason : 'model_refused';
}

function drawFacts({ shop, sql }: Deps, claim: string, item: ClaimedItem, model: string) {
  const { spender, text } = item;
  const wanted = { claim, item, kind: 'facts', model, codec: factsCodec } as const;
  const prompt = factsPrompt(text);
  const maxTokens = LIMITS.memory.inferMaxTokens;
  return buyOnce({ ...shop, sql }, wanted, (workId, keep) =>
    shop.models.answer(
      { spender, workId, signal: NEVER, model, system: FACTS_SYSTEM, prompt, maxTokens },
      // An answer without facts is not paid for.
      async (answer) => keep(readFacts(answer)),
    ),
  );
}

async function embed(
  { embedders, shop, sql }: Deps,
  claim: string,
  item: ClaimedItem,
  pieces: readonly Piece[],
): Promise<{ readonly chunks: readonly IndexedChunk[]; readonly costRaw: bigint }> {
  const { agentId, dims, model, spender } = item;
  const texts = pieces.map(({ content }) => content);
  if (embedders.of(model)?.kind !== 'bought') {
    const vectors = await engineOf(embedders, model).embed(texts, agentId);
    return { chunks: withVectors(pieces, vectors), costRaw: 0n };
  }
  const codec = vectorCodec(texts.length);
  const { costRaw, result } = await buyOnce(
    { ...shop, sql },
    { claim, item, kind: 'vectors', model, codec },
    (workId, keep) =>
      shop.models.embed({ spender, workId, signal: NEVER, model, texts }, async (vectors) => {
        // Vectors that no index takes, or that cannot be compared with those there are, are not paid for.
        const fits = dims === 0 || vectors[0]?.length === dims;
        if (!fits || !areSearchable(vectors, texts.length)) throw new ModelRefused(422);
        await keep(vectors);
      }),
  );
  return { chunks: withVectors(pieces, result), costRaw };
}

async function giveBack(
  { indexed, log, sql }: IndexBoughtDeps,
  { claim, item }: { readonly claim: string; readonly item: ClaimedItem },
  error: unknown,
): Promise<void> {
  const { agentId, id } = item;
  const { busyMs, retryMs } = LIMITS.memory.indexing;
  const setback = setbackOf(error);
  indexed.add(1, { outcome: setback.kind === 'busy' ? 'busy' : 'failed' });
  log.warn({ err: error, agentId, setback: setback.kind }, 'a memory was not indexed');
  if (setback.kind === 'busy' || setback.kind === 'fault') {
    const failed = setback.kind === 'fault';
    const waitMs = failed ? retryMs : busyMs;
    await releaseItems(sql, { claim, ids: [id] }, { failed, waitMs });
    return;
  }
  const needsRaw = setback.kind === 'refused' ? setback.needsRaw : null;
  const isOver = setback.kind === 'hopeless';
  await refuseItem(sql, { claim, id }, { reason: setback.reason, needsRaw, isOver });
}
