import { ApiError } from '../../kernel/api-error.ts';
import { assert } from '../../kernel/assert.ts';
import { newId } from '../../kernel/ids.ts';
import type { Span } from '../../platform/tracing/span.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import { termsOf } from '../metadata.ts';
import { buyOnce, ClaimLost, findBought, PurchaseOpen, spentOn } from '../purchase/buy-once.ts';
import { areSearchable, factsCodec, vectorCodec } from '../purchase/codecs.ts';
import { FACTS_SYSTEM, factsPrompt, readFacts } from '../purchase/draw-facts.ts';
import { type IndexingFailure, indexingFailureOf } from '../purchase/indexing-failure.ts';
import { ModelRefused } from '../purchase/models.ts';
import { keepInstead } from '../purchase/purchase-store.ts';
import type { IndexItemsDeps, IndexingShop } from './indexing-deps.ts';
import {
  type ClaimedItem,
  completeItems,
  type IndexedChunk,
  type ItemPurchases,
  refuseItem,
  releaseItems,
} from './indexing-store.ts';
import { engineOf, type Piece, withVectors } from './pieces.ts';
import { splitItem } from './split-text.ts';

type Deps = IndexItemsDeps & { readonly shop: IndexingShop; readonly span: Span | undefined };

/** Signal that never fires. No client waits for indexing, so that only a purchase's own time limits end it. */
const NEVER = new AbortController().signal;

/**
 * Indexes an item that needs a purchase: of its facts, its vectors or both, each bought once. When a purchase is refused, the
 * item is released with the reason. Rejects as the database does; the claim then expires by itself.
 */
export async function indexPurchased(
  deps: IndexItemsDeps,
  claim: string,
  item: ClaimedItem,
): Promise<void> {
  const { indexed, onChunks, onStep, shop, sql } = deps;
  assert(shop !== undefined, 'what must be bought has a seller');
  const { agentId, id, metadata, spaceId } = item;
  // The request that brought the item is over, so that indexing has its own trace.
  const span = shop.tracer?.start('memory indexing', {
    attributes: { 'svc.agent.id': agentId },
  });
  const traced = { ...deps, shop, span };
  try {
    const drawn = await cut(traced, claim, item);
    const { bought } = drawn;
    const { chunks, costRaw } = await embed(traced, claim, item, drawn);
    await onStep?.('embedded');
    const terms = new Map([[id, termsOf(spaceId, metadata)]]);
    const all = { ...bought, costRaw: bought.costRaw + costRaw };
    const done = { claim, spaceId, terms, bought: all };
    const completed = await completeItems(sql, done, chunks, onChunks);
    indexed.add(completed, { outcome: 'completed' });
    span?.end({ attributes: { 'svc.cost_raw': Number(all.costRaw) } });
  } catch (error) {
    span?.end({ error: indexingFailureOf(error).kind });
    await giveBack(traced, { claim, item }, error);
    return;
  }
  await onStep?.('completed');
}

type Cut = {
  readonly pieces: readonly Piece[];
  readonly bought: ItemPurchases;
  /**
   * Reason why no facts were bought this time. It is stored with the vectors, so that another process that continues uses the
   * same pieces.
   */
  readonly unsold?: string | undefined;
};

/**
 * Returns the pieces of an item: the facts that a model extracts when the item requests it, or else the pieces by the fixed
 * rules.
 */
async function cut(deps: Deps, claim: string, item: ClaimedItem): Promise<Cut> {
  const { id: itemId, infer, type } = item;
  const { inferModel } = deps.shop;
  const piecesOf = (contents: readonly string[]): Piece[] =>
    contents.map((content) => ({ itemId, type, content }));
  const local = () => piecesOf(splitItem(item));
  const unasked = { costRaw: 0n, inferredBy: null, inferError: null };
  if (!infer) return { pieces: local(), bought: unasked };
  try {
    const drawn = await (inferModel === undefined
      ? findBought({ ...deps.shop, sql: deps.sql }, { item, kind: 'facts', codec: factsCodec })
      : drawFacts(deps, claim, item, inferModel));
    if (drawn?.result === undefined) return { pieces: local(), bought: unasked };
    const { costRaw, model } = drawn;
    const { facts, inferError } = drawn.result;
    if (inferError !== null) {
      return { pieces: local(), bought: { costRaw, inferredBy: 'local', inferError } };
    }
    return { pieces: piecesOf(facts), bought: { costRaw, inferredBy: model, inferError } };
  } catch (error) {
    const inferError = whyLocal(error);
    if (inferError === undefined) throw error;
    deps.log.warn({ err: error, agentId: item.agentId }, 'facts were drawn by the fixed rules');
    const bought = { costRaw: 0n, inferredBy: 'local', inferError };
    return { pieces: local(), bought, unsold: inferError };
  }
}

/** Returns the reason why fixed rules extract the facts instead of a model. Undefined when the item must be tried again. */
function whyLocal(error: unknown): string | undefined {
  if (!(error instanceof ApiError || error instanceof ModelRefused)) return undefined;
  const setback = indexingFailureOf(error);
  return 'reason' in setback ? setback.reason : 'model_refused';
}

function drawFacts({ shop, span, sql }: Deps, claim: string, item: ClaimedItem, model: string) {
  const { spender, text } = item;
  const wanted = { claim, item, kind: 'facts', model, codec: factsCodec } as const;
  const prompt = factsPrompt(text);
  const maxTokens = MEMORY_LIMITS.facts.maxTokens;
  return buyOnce({ ...shop, sql }, wanted, (workId, keep) =>
    shop.models.answer(
      { spender, workId, signal: NEVER, span, model, system: FACTS_SYSTEM, prompt, maxTokens },
      // An answer without facts is paid for too. Otherwise a text could make models answer free of charge again and again.
      async (answer) => keep(readFacts(answer)),
    ),
  );
}

async function embed(
  deps: Deps,
  claim: string,
  item: ClaimedItem,
  { pieces, unsold }: Cut,
): Promise<{ readonly chunks: readonly IndexedChunk[]; readonly costRaw: bigint }> {
  const { embedders, shop, span, sql } = deps;
  const { agentId, dims, model, spender } = item;
  const texts = pieces.map(({ content }) => content);
  if (embedders.of(model)?.kind !== 'bought') {
    const vectors = await engineOf(embedders, model).embed(texts, agentId);
    return { chunks: withVectors(pieces, vectors), costRaw: 0n };
  }
  const codec = vectorCodec({ model, texts, dims });
  const { costRaw, result } = await buyOnce(
    { ...shop, sql },
    { claim, item, kind: 'vectors', model, codec },
    (workId, keep) =>
      shop.models.embed({ spender, workId, signal: NEVER, span, model, texts }, async (vectors) => {
        // Vectors that the index refuses, or that cannot be compared with the namespace's vectors, are not paid for.
        const fits = dims === 0 || vectors[0]?.length === dims;
        if (!fits || !areSearchable(vectors, texts.length)) throw new ModelRefused(422);
        if (unsold !== undefined) await keepUnsold(deps, claim, item, unsold);
        await keep(vectors);
      }),
  );
  return { chunks: withVectors(pieces, result), costRaw };
}

/**
 * Stores the decision that the fixed rules extract the facts of an item. Throws ClaimLost before the vectors of these facts are
 * charged.
 */
async function keepUnsold(
  { shop, sql }: Deps,
  claim: string,
  { id: itemId }: ClaimedItem,
  inferError: string,
): Promise<void> {
  const result = factsCodec.encode({ facts: [], inferError });
  const workId = newId(shop.random, 'mem_buy_');
  const model = shop.inferModel ?? 'local';
  const kept = { claim, itemId, kind: 'facts', model, workId, result } as const;
  if (!(await keepInstead(sql, kept))) throw new ClaimLost('another process has the item');
}

async function giveBack(
  deps: Deps,
  { claim, item }: { readonly claim: string; readonly item: ClaimedItem },
  error: unknown,
): Promise<void> {
  const { indexed, log, sql } = deps;
  const { agentId, id } = item;
  const { busyMs, retryMs } = MEMORY_LIMITS.indexing;
  let setback = indexingFailureOf(error);
  let spentRaw = 0n;
  if (isLastTry(setback, item)) {
    try {
      spentRaw = await spentOn({ ...deps.shop, sql }, item);
    } catch (open) {
      if (!(open instanceof PurchaseOpen)) throw open;
      // The item fails later, once the ledger knows the cost of the open purchase.
      setback = { kind: 'busy' };
    }
  }
  indexed.add(1, { outcome: setback.kind === 'busy' ? 'busy' : 'failed' });
  log.warn({ err: error, agentId, setback: setback.kind }, 'a memory was not indexed');
  if (setback.kind === 'busy' || setback.kind === 'fault') {
    const failed = setback.kind === 'fault';
    const waitMs = failed ? retryMs : busyMs;
    await releaseItems(sql, { claim, ids: [id] }, { failed, waitMs, spentRaw });
    return;
  }
  const needsRaw = setback.kind === 'refused' ? setback.needsRaw : null;
  const isOver = setback.kind === 'hopeless';
  await refuseItem(sql, { claim, id }, { reason: setback.reason, needsRaw, isOver, spentRaw });
}

/** Returns true when an item fails for good with this setback. */
function isLastTry(setback: IndexingFailure, { attempts, waits }: ClaimedItem): boolean {
  const limits = MEMORY_LIMITS.indexing;
  switch (setback.kind) {
    case 'busy':
      return false;
    case 'fault':
      return attempts + 1 >= limits.attempts;
    case 'refused':
      return waits + 1 >= limits.refusedMs.times;
    case 'hopeless':
      return true;
  }
}
