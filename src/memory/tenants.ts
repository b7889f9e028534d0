import { EngineBusy } from '../engines/engine.ts';
import type { FairQueue } from '../engines/threads/fair-queue.ts';
import { requestErrors } from '../http/route/errors.ts';
import type { Clock } from '../kernel/clock.ts';
import { turnForLongWork } from '../kernel/long-work.ts';
import type { Queryable, Sql } from '../platform/postgres/sql.ts';
import { type Embedders, spaceOf } from './embedder.ts';
import { memoryErrors } from './errors.ts';
import { MEMORY_LIMITS } from './limits.ts';
import type { Bodies } from './memory-shape.ts';
import { extendSchema } from './metadata.ts';
import { turnOf } from './search/turn-of.ts';
import type { VectorSearch } from './search/vector-search.ts';
import {
  countItems,
  findOrMakeSpace,
  lockOrMakeTenant,
  removeTenant,
  saveSchema,
  sweepDeleted,
} from './tenant-store.ts';

/**
 * Creates an agent's store or a namespace of the store, and declares its metadata fields. May be repeated; fields can be added.
 */
export async function createTenant(
  deps: { readonly sql: Sql; readonly embedders: Embedders; readonly writes: FairQueue },
  agentId: number,
  { subTenantId, tenantMetadataSchema }: Bodies['tenant/create'],
): Promise<{ readonly status: 'accepted' }> {
  const { embedders, sql, writes } = deps;
  const write = async (tx: Queryable) => {
    const { spaces } = await lockOrMakeTenant(tx, agentId);
    const place = { agentId, subTenant: subTenantId ?? null };
    const space = await findOrMakeSpace(tx, { ...place, ...spaceOf(embedders.usual), spaces });
    if (tenantMetadataSchema === null || tenantMetadataSchema === undefined) return;
    const { details, schema } = extendSchema(space.schema, tenantMetadataSchema);
    if (details.length > 0) throw requestErrors.invalid(details);
    await saveSchema(tx, space.id, schema);
  };
  await turnOf(writes, agentId, () => sql.begin(write));
  return { status: 'accepted' };
}

/** Returns whether an agent has a store, with the number of its items. An accepted store is ready. */
export async function tenantStatus(
  sql: Sql,
  agentId: number,
): Promise<{ status: 'ready' | 'absent'; memories: number; knowledge: number }> {
  const counts = await countItems(sql, agentId);
  if (counts === undefined) return { status: 'absent', memories: 0, knowledge: 0 };
  return { status: 'ready', ...counts };
}

const DROPS_A_TURN = 100;

/**
 * Deletes an agent's store: from the commit on nothing of it can be found. Its rows are deleted before the response, except in
 * a very large store, whose remaining rows a worker deletes.
 */
export async function deleteTenant(
  deps: {
    readonly sql: Sql;
    readonly loader: VectorSearch;
    readonly clock: Clock;
    readonly writes: FairQueue;
  },
  agentId: number,
): Promise<{ readonly status: 'deleted' }> {
  const { clock, loader, sql, writes } = deps;
  const remove = () => sql.begin((tx) => removeTenant(tx, agentId));
  const spaces = await turnOf(writes, agentId, remove);
  if (spaces === undefined) throw memoryErrors.tenantNotFound();
  for (const [done, id] of spaces.entries()) {
    if (done % DROPS_A_TURN === 0) await turnForLongWork();
    await loader.drop(id);
  }
  const untilMs = clock.monotonicMs() + MEMORY_LIMITS.sweep.ms;
  // Each step waits for a turn of its own. When the queue has no room, the worker deletes the remaining rows.
  const sweep = () => writes.run(agentId, () => sweepDeleted(sql, spaces)).catch(falseIfBusy);
  while ((await sweep()) && clock.monotonicMs() < untilMs);
  return { status: 'deleted' };
}

function falseIfBusy(error: unknown): false {
  if (error instanceof EngineBusy) return false;
  throw error;
}

/** Removes an agent's store in the sql transaction that closes the agent. A worker deletes the rows later. */
export async function forgetAtClose(tx: Queryable, agentId: number): Promise<void> {
  await removeTenant(tx, agentId);
}
