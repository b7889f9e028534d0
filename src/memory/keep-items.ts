import type { FairQueue } from '../engines/threads/fair-queue.ts';
import { isoTime } from '../kernel/clock.ts';
import type { Queryable, Sql } from '../platform/postgres/sql.ts';
import { deleteItems, type ItemStanding, listItems, readStatuses } from './item-store.ts';
import { MEMORY_LIMITS } from './limits.ts';
import type { Bodies } from './memory-shape.ts';
import { turnOf } from './search/turn-of.ts';
import type { VectorSearch } from './search/vector-search.ts';
import { findSpace, lockTenant } from './tenant-store.ts';

/** Returns the indexing states of items of a namespace, in the order of `ids`. */
export async function itemStatuses(
  sql: Sql,
  agentId: number,
  { ids, subTenantId }: Bodies['status'],
): Promise<{ readonly statuses: readonly object[] }> {
  const space = await findSpace(sql, agentId, subTenantId ?? null);
  const known: ReadonlyMap<string, ItemStanding> =
    space === undefined ? new Map() : await readStatuses(sql, space.id, ids);
  return {
    statuses: ids.map((id) => {
      const standing = known.get(id);
      return standing === undefined ? { id, status: 'not_found' } : { id, ...told(standing) };
    }),
  };
}

/** Returns the status of an item, with its cost, or the reason without a purchase, when the item needed a purchase. */
const told = ({ costRaw, inferError, inferredBy, reason, status }: ItemStanding): object => ({
  status,
  ...(costRaw === 0n ? {} : { costRaw: costRaw.toString() }),
  ...(reason === null ? {} : { reason }),
  ...(inferredBy === null ? {} : { inferred_by: inferredBy }),
  ...(inferError === null ? {} : { infer_error: inferError }),
});

/** Returns a page of a namespace's items, newest first. */
export async function itemPage(
  sql: Sql,
  agentId: number,
  { limit, offset, subTenantId, type }: Bodies['list'],
): Promise<{ readonly items: readonly object[]; readonly total: number }> {
  const space = await findSpace(sql, agentId, subTenantId ?? null);
  const page = { limit, offset };
  if (space === undefined) return { items: [], total: 0, ...page };
  const textChars = MEMORY_LIMITS.item.textBytes;
  const found = await listItems(sql, space.id, { ...page, type: type ?? null, textChars });
  const items = found.items.map((found) => {
    const { costRaw, createdAt, inferError, inferredBy, isCut, reason, sourceId, status } = found;
    const { id, metadata, text, title, type } = found;
    return {
      id,
      type,
      text,
      metadata,
      ...told({ costRaw, inferError, inferredBy, reason, status }),
      sub_tenant_id: space.subTenant,
      created_at: isoTime(createdAt.getTime()),
      ...(isCut ? { text_truncated: true } : {}),
      ...(title === null ? {} : { title }),
      ...(sourceId === null ? {} : { source_id: sourceId }),
    };
  });
  return { items, total: found.total, ...page };
}

/** Deletes items of a namespace: their rows in one commit, and this process's loaded vectors at once. */
export async function removeItems(
  deps: {
    readonly sql: Sql;
    readonly loader: VectorSearch;
    readonly line: FairQueue;
    readonly writes: FairQueue;
  },
  agentId: number,
  { ids, subTenantId, type }: Bodies['delete'],
): Promise<{ readonly deleted: readonly string[]; readonly not_found: readonly string[] }> {
  const { line, loader, sql, writes } = deps;
  const wanted = [...new Set(ids)];
  const subTenant = subTenantId ?? null;
  const write = async (tx: Queryable) => {
    if (!(await lockTenant(tx, agentId))) return [];
    const space = await findSpace(tx, agentId, subTenant);
    return space === undefined ? [] : deleteItems(tx, space, { ids: wanted, type: type ?? null });
  };
  const gone = await turnOf(writes, agentId, () => sql.begin(write));
  if (gone.length > 0) {
    const find = () => findSpace(sql, agentId, subTenant);
    const space = await turnOf(line, agentId, find).catch(() => undefined);
    if (space !== undefined) await loader.follow(space);
  }
  const deleted = new Set(gone);
  return {
    deleted: wanted.filter((id) => deleted.has(id)),
    not_found: wanted.filter((id) => !deleted.has(id)),
  };
}
