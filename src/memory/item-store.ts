import type { Spender } from '../ledger/rules/requests.ts';
import { numberArray, textArray } from '../platform/postgres/pg-array.ts';
import type { Queryable } from '../platform/postgres/sql.ts';
import type { ItemType, Metadata } from './memory-shape.ts';

export type MemoryItemStatus = 'queued' | 'processing' | 'completed' | 'failed';

export type NewItem = {
  readonly id: string;
  readonly type: ItemType;
  readonly text: string;
  readonly infer: boolean;
  readonly metadata: Metadata;
  readonly title: string | null;
  readonly sourceId: string | null;
};

/** State of an item's indexing, with its cost and the reason of a failure or a wait. */
export type ItemStanding = {
  readonly status: MemoryItemStatus;
  readonly costRaw: bigint;
  readonly reason: string | null;
  readonly inferredBy: string | null;
  readonly inferError: string | null;
};

/** Returns the bytes that an item counts for in its store: every text whose length its owner chose, in UTF-8. */
export const bytesOf = ({ metadata, sourceId, text, title }: NewItem): number =>
  [text, title ?? '', sourceId ?? '', JSON.stringify(metadata)]
    .map((part) => Buffer.byteLength(part))
    .reduce((sum, bytes) => sum + bytes, 0);

/** Inserts items in their order, due for indexing. The caller has locked the agent's store. */
export async function insertItems(
  tx: Queryable,
  { agentId, id: spaceId }: { readonly agentId: number; readonly id: number },
  items: readonly NewItem[],
  // Items are indexed later, from the balance: a call's reserve exists in one process and only during the call.
  { reserve: _, ...spender }: Spender,
): Promise<void> {
  const column = (of: (item: NewItem) => string | null) => textArray(items.map(of));
  const bytes = items.map(bytesOf);
  await tx`
    insert into memory_items
      (id, space_id, agent_id, type, text, infer, metadata, title, source_id, bytes, status, due_at,
        spender)
    select x.id, ${spaceId}, ${agentId}, x.type, x.text, x.infer::boolean, x.metadata::jsonb, x.title, x.source,
      x.bytes, 'queued', clock_timestamp(), ${JSON.stringify(spender)}::text::jsonb
    from unnest(${column((i) => i.id)}::text[], ${column((i) => i.type)}::text[],
      ${column((i) => i.text)}::text[], ${column((i) => String(i.infer))}::text[],
      ${column((i) => JSON.stringify(i.metadata))}::text[], ${column((i) => i.title)}::text[],
      ${column((i) => i.sourceId)}::text[], ${numberArray(bytes)}::int[])
      with ordinality as x(id, type, text, infer, metadata, title, source, bytes, place)
    order by x.place`;
  const knowledge = countOf(items, 'knowledge');
  const total = bytes.reduce((sum, of) => sum + of, 0);
  await tx`update memory_spaces set memories = memories + ${countOf(items, 'memory')},
    knowledge = knowledge + ${knowledge} where id = ${spaceId}`;
  await tx`update memory_tenants set items = items + ${items.length},
    knowledge = knowledge + ${knowledge}, bytes = bytes + ${total}::bigint
    where agent_id = ${agentId}`;
}

const countOf = (items: readonly { readonly type: ItemType }[], wanted: ItemType): number =>
  items.filter(({ type }) => type === wanted).length;

/** Returns the ids of those items that the agent has, in the given order. */
export async function findItems(
  sql: Queryable,
  agentId: number,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select x.id from unnest(${textArray(ids)}::text[]) with ordinality as x(id, place)
      join memory_items i on i.id = x.id and i.agent_id = ${agentId} order by x.place`;
  return rows.map(({ id }) => id);
}

export async function readStatuses(
  sql: Queryable,
  spaceId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ItemStanding>> {
  const rows = await sql<({ readonly id: string } & ItemStanding)[]>`
    select id, ${standing(sql)} from memory_items
    where space_id = ${spaceId} and id = any(${textArray(ids)}::text[])`;
  return new Map(rows.map(({ id, ...row }) => [id, row]));
}

const standing = (sql: Queryable) => sql`
  status, cost_raw as "costRaw", reason, inferred_by as "inferredBy", infer_error as "inferError"`;

export type ItemRecord = ItemStanding & {
  readonly id: string;
  readonly type: ItemType;
  readonly text: string;
  readonly isCut: boolean;
  readonly metadata: Metadata;
  readonly title: string | null;
  readonly sourceId: string | null;
  readonly createdAt: Date;
};

/** Returns a page of the items of a namespace, newest first, with the first `textChars` characters of their texts. */
export async function listItems(
  sql: Queryable,
  spaceId: number,
  page: {
    readonly type: ItemType | null;
    readonly limit: number;
    readonly offset: number;
    readonly textChars: number;
  },
): Promise<{ readonly items: readonly ItemRecord[]; readonly total: number }> {
  const { limit, offset, textChars, type } = page;
  const ofType = type === null ? sql`` : sql`and type = ${type}`;
  // Skipped items are only counted. Texts are read for the items of the page alone.
  const items = await sql<ItemRecord[]>`
    with page as materialized (
      select seq from memory_items where space_id = ${spaceId} ${ofType}
      order by seq desc limit ${limit} offset ${offset})
    select i.id, i.type, left(i.text, ${textChars}) as text,
      length(i.text) > ${textChars} as "isCut", ${standing(sql)}, i.metadata, i.title,
      i.source_id as "sourceId", i.created_at as "createdAt"
    from page join memory_items i on i.space_id = ${spaceId} and i.seq = page.seq
    order by i.seq desc`;
  const [counted] = await sql<{ memory: number; knowledge: number }[]>`
    select memories as memory, knowledge from memory_spaces where id = ${spaceId}`;
  const { knowledge = 0, memory = 0 } = counted ?? {};
  const total = type === null ? memory + knowledge : { knowledge, memory }[type];
  return { items: [...items], total };
}

/**
 * Deletes items with their chunks. The caller has locked the store. A process that is completing one of the items has either
 * committed before, or no longer finds the item.
 */
export async function deleteItems(
  tx: Queryable,
  { agentId, id: spaceId }: { readonly agentId: number; readonly id: number },
  wanted: { readonly ids: readonly string[]; readonly type: ItemType | null },
): Promise<readonly string[]> {
  const ofType = wanted.type === null ? tx`` : tx`and type = ${wanted.type}`;
  const found = await tx<{ id: string; type: ItemType; bytes: number }[]>`
    select id, type, bytes from memory_items
    where space_id = ${spaceId} and id = any(${textArray(wanted.ids)}::text[]) ${ofType}
    order by id for update`;
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  const chunks = await tx<{ id: bigint }[]>`
    delete from memory_chunks where item_id = any(${textArray(ids)}::text[]) returning id`;
  await tx`delete from memory_items where id = any(${textArray(ids)}::text[])`;
  const knowledge = countOf(found, 'knowledge');
  const total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  await tx`update memory_tenants set items = items - ${ids.length},
    knowledge = knowledge - ${knowledge}, bytes = bytes - ${total}::bigint
    where agent_id = ${agentId}`;
  await tx`
    with risen as (
      update memory_spaces set memories = memories - ${countOf(found, 'memory')},
        knowledge = knowledge - ${knowledge}, version = version + ${chunks.length > 0 ? 1 : 0}
      where id = ${spaceId} returning version)
    insert into memory_removals (space_id, version, chunk_ids)
    select ${spaceId}, version, removed
    from risen, (select ${numberArray(chunks.map(({ id }) => id))}::bigint[] as removed) r
    where cardinality(removed) > 0`;
  return ids;
}
