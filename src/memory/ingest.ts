import type { FairQueue } from '../engines/threads/fair-queue.ts';
import type { ValidationDetail } from '../http/route/errors.ts';
import { requestErrors } from '../http/route/errors.ts';
import { idOf, newId } from '../kernel/ids.ts';
import type { Random } from '../kernel/random.ts';
import type { Queryable, Sql } from '../platform/postgres/sql.ts';
import { type Embedders, requireEmbedding, spaceOf } from './embedder.ts';
import { memoryErrors } from './errors.ts';
import { bytesOf, findItems, insertItems, type NewItem } from './item-store.ts';
import { MEMORY_LIMITS } from './limits.ts';
import { type MemoryCaller, spenderOf } from './memory-caller.ts';
import type { Bodies, Document } from './memory-shape.ts';
import { checkMetadata } from './metadata.ts';
import { turnOf } from './search/turn-of.ts';
import { findOrMakeSpace, lockOrMakeTenant, type TenantSize } from './tenant-store.ts';

type IngestDeps = {
  readonly sql: Sql;
  readonly random: Random;
  readonly embedders: Embedders;
  readonly writes: FairQueue;
};

/**
 * Stores memories or documents for indexing. They are committed before this resolves. Throws `memory_full`, and
 * `vendor_unavailable` when this server can never index them.
 */
export async function ingest(
  deps: IngestDeps,
  caller: MemoryCaller,
  body: Bodies['ingest'],
): Promise<Ingested> {
  const { embedders, random, sql, writes } = deps;
  const { agentId, workId } = caller;
  let count = 0;
  const items = itemsOf(body, () =>
    workId === undefined ? newId(random, 'mem_') : keyedId(workId, count++),
  );
  const place = { agentId, subTenant: body.subTenantId ?? null };
  const write = async (tx: Queryable) => {
    const { spaces, ...kept } = await lockOrMakeTenant(tx, agentId);
    requireRoom(kept, items);
    const wanted = { ...place, ...spaceOf(embedders.usual), spaces };
    const space = await findOrMakeSpace(tx, wanted);
    requireEmbedding(embedders, space.model);
    const member = body.type === 'memory' ? 'memories' : 'appKnowledge';
    const details = items.flatMap(({ metadata }, n) =>
      checkMetadata(space.schema, metadata, [member, n, 'metadata']),
    );
    if (details.length > 0) throw requestErrors.invalid(details.slice(0, DETAILS_SHOWN));
    await insertItems(tx, space, items, spenderOf(caller));
  };
  await turnOf(writes, agentId, () => sql.begin(write));
  return ingestedAs(items.map(({ id }) => id));
}

type Ingested = { readonly results: readonly object[] };

/** Finds the items that the work under an `Idempotency-Key` wrote. Undefined when it wrote no items or they were deleted. */
export async function findIngested(
  sql: Sql,
  agentId: number,
  workId: string,
): Promise<Ingested | undefined> {
  const ids = Array.from({ length: MEMORY_LIMITS.item.perIngest }, (_, n) => keyedId(workId, n));
  const found = await findItems(sql, agentId, ids);
  return found.length === 0 ? undefined : ingestedAs(found);
}

const ingestedAs = (ids: readonly string[]): Ingested => ({
  results: ids.map((id) => ({ id, status: 'queued' })),
});

/** Returns the id of item `n` of the work under an `Idempotency-Key`. */
const keyedId = (workId: string, n: number): string => idOf('mem_', `${workId}/${n}`);

function requireRoom(kept: Pick<TenantSize, 'items' | 'bytes'>, items: readonly NewItem[]): void {
  const { bytes: bytesPerAgent, items: itemsPerAgent } = MEMORY_LIMITS.agent;
  const bytes = items.reduce((sum, item) => sum + bytesOf(item), kept.bytes);
  if (kept.items + items.length > itemsPerAgent) throw memoryErrors.full('items', itemsPerAgent);
  if (bytes > bytesPerAgent) throw memoryErrors.full('bytes of text', bytesPerAgent);
}

const DETAILS_SHOWN = 20;

function itemsOf({ appKnowledge, memories, type }: Bodies['ingest'], id: () => string): NewItem[] {
  if (type === 'memory') {
    if (appKnowledge !== undefined) throw refuse('appKnowledge', 'goes with type knowledge');
    if (memories === undefined) throw refuse('memories', 'is required with type memory');
    return memories.map(({ infer, metadata, text }) => ({
      id: id(),
      type,
      text,
      infer: infer ?? false,
      metadata: metadata ?? {},
      title: null,
      sourceId: null,
    }));
  }
  if (memories !== undefined) throw refuse('memories', 'goes with type memory');
  if (appKnowledge === undefined) throw refuse('appKnowledge', 'is required with type knowledge');
  return appKnowledge.map((document) => documentItem(id(), document));
}

const documentItem = (id: string, document: Document): NewItem => ({
  id,
  type: 'knowledge',
  text: document.text ?? document.content ?? '',
  infer: false,
  metadata: document.metadata ?? {},
  title: document.title ?? null,
  sourceId: document.id === null || document.id === undefined ? null : String(document.id),
});

function refuse(member: string, message: string): Error {
  const detail: ValidationDetail = { path: [member], message, code: 'invalid_type' };
  return requestErrors.invalid([detail]);
}
