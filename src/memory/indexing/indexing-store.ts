import { LIMITS } from '../../kernel/limits.ts';
import { numberArray, textArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { ItemType, Metadata } from '../memory-shape.ts';

/** An item that this process indexes now; no other does until its claim has ended. */
export type ClaimedItem = {
  readonly id: string;
  readonly spaceId: number;
  readonly agentId: number;
  readonly model: string;
  readonly type: ItemType;
  readonly text: string;
  readonly infer: boolean;
  readonly metadata: Metadata;
  readonly title: string | null;
  readonly attempts: number;
};

/** Namespaces that one claim looks at. */
const LOOKED_AT = 256;

/**
 * Claims items that are due, of namespaces behind `after` that this process is not busy with, some of each: a namespace
 * with thousands of items waits for itself alone. The namespaces are found by stepping over the index.
 */
export async function claimItems(
  sql: Sql,
  wanted: {
    readonly claim: string;
    readonly after: number;
    readonly busy: readonly number[];
    readonly spaces: number;
  },
): Promise<readonly ClaimedItem[]> {
  const { after, busy, claim, spaces } = wanted;
  const { claimMs, itemsPerClaim } = LIMITS.memory.indexing;
  return sql<ClaimedItem[]>`
    with recursive queues as (
      (select space_id, 1 as place from memory_items
        where due_at is not null and space_id > ${after} order by space_id, due_at limit 1)
      union all
      select (select i.space_id from memory_items i
        where i.due_at is not null and i.space_id > q.space_id
        order by i.space_id, i.due_at limit 1), q.place + 1
      from queues q where q.space_id is not null and q.place < ${LOOKED_AT}),
    open_to as materialized (
      select q.space_id from queues q join memory_spaces s on s.id = q.space_id
      where s.deleted_at is null and q.space_id <> all(${numberArray(busy)}::int[])
        and exists (select 1 from memory_items d
          where d.space_id = q.space_id and d.due_at is not null and d.due_at <= now())
      order by q.space_id limit ${spaces}),
    due as materialized (
      select d.id from open_to o, lateral (
        select id from memory_items
        where space_id = o.space_id and due_at is not null and due_at <= now()
        order by due_at limit ${itemsPerClaim} for update skip locked) d)
    update memory_items i set status = 'processing', claim = ${claim},
      due_at = now() + ${claimMs} * interval '1 millisecond'
    from due, memory_spaces s where i.id = due.id and s.id = i.space_id
    returning i.id, i.space_id as "spaceId", s.agent_id as "agentId", s.model, i.type, i.text,
      i.infer, i.metadata, i.title, i.attempts::int as attempts`;
}

/** Whose claims go on: the processes that made them are at work on them. */
export async function renewClaims(sql: Sql, claims: readonly string[], ids: readonly string[]) {
  await sql`
    with held as (
      select id from memory_items where id = any(${textArray(ids)}::text[])
        and claim = any(${textArray(claims)}::text[]) and status = 'processing'
      for update skip locked)
    update memory_items i
    set due_at = now() + ${LIMITS.memory.indexing.claimMs} * interval '1 millisecond'
    from held where i.id = held.id`;
}

export type IndexedChunk = {
  readonly itemId: string;
  readonly type: ItemType;
  readonly content: string;
  readonly vector: Float32Array;
};

export type OnChunks = (
  tx: Queryable,
  written: { readonly spaceId: number; readonly version: number },
) => Promise<void>;

/**
 * Writes the chunks of items and completes the items, in one commit. Items that were deleted meanwhile, or whose claim
 * has passed to another process, are left out with their chunks. Returns how many were completed.
 */
export async function completeItems(
  sql: Sql,
  claimed: {
    readonly claim: string;
    readonly spaceId: number;
    /** The items by their ids, with what their metadata is found by. */
    readonly terms: ReadonlyMap<string, readonly string[]>;
  },
  chunks: readonly IndexedChunk[],
  onChunks?: OnChunks,
): Promise<number> {
  const { claim, spaceId, terms } = claimed;
  return sql.begin(async (tx) => {
    const held = await tx<{ id: string }[]>`
      select id from memory_items where id = any(${textArray([...terms.keys()])}::text[])
        and claim = ${claim} and status = 'processing' order by id for update`;
    if (held.length === 0) return 0;
    const mine = new Set(held.map(({ id }) => id));
    // The lock on the row gives commits their order: whoever reads a version finds all that it has.
    const [risen] = await tx<{ version: string }[]>`
      update memory_spaces set version = version + 1
      where id = ${spaceId} and deleted_at is null returning version::text`;
    if (risen === undefined) return 0;
    const rows = chunks.filter(({ itemId }) => mine.has(itemId));
    const column = (of: (chunk: IndexedChunk) => string) => textArray(rows.map(of));
    await tx`
      insert into memory_chunks (item_id, space_id, type, content, terms, vector, version)
      select x.item_id, ${spaceId}, x.type, x.content,
        array(select jsonb_array_elements_text(i.terms::jsonb)), decode(x.vector, 'hex'),
        ${risen.version}::bigint
      from unnest(${column((c) => c.itemId)}::text[], ${column((c) => c.type)}::text[],
        ${column((c) => c.content)}::text[], ${column((c) => hexOf(c.vector))}::text[])
        with ordinality as x(item_id, type, content, vector, place)
      join unnest(${textArray([...terms.keys()])}::text[],
        ${textArray([...terms.values()].map((list) => JSON.stringify(list)))}::text[])
        as i(id, terms) on i.id = x.item_id
      order by x.place`;
    await onChunks?.(tx, { spaceId, version: Number(risen.version) });
    await tx`
      update memory_items set status = 'completed', claim = null, due_at = null
      where id = any(${textArray([...mine])}::text[])`;
    return mine.size;
  });
}

const hexOf = ({ buffer, byteLength, byteOffset }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('hex');

/**
 * Gives items back, to be claimed again after a while. With `failed` that counts as a failure of each; after too many
 * of them an item has failed for good.
 */
export async function releaseItems(
  sql: Sql,
  claimed: { readonly claim: string; readonly ids: readonly string[] },
  { failed, waitMs }: { readonly failed: boolean; readonly waitMs: number },
): Promise<void> {
  const { attempts } = LIMITS.memory.indexing;
  const more = failed ? 1 : 0;
  await sql`
    with held as (
      select id from memory_items where id = any(${textArray(claimed.ids)}::text[])
        and claim = ${claimed.claim} and status = 'processing' order by id for update)
    update memory_items i set claim = null, attempts = i.attempts + ${more}::smallint,
      status = case when i.attempts + ${more} >= ${attempts} then 'failed' else 'queued' end,
      due_at = case when i.attempts + ${more} >= ${attempts} then null
        else now() + ${waitMs} * power(2, i.attempts) * interval '1 millisecond' end
    from held where i.id = held.id`;
}

/** Forgets removals that every process has followed long ago. */
export async function forgetRemovals(sql: Sql): Promise<void> {
  const { removalsKeptMs } = LIMITS.memory;
  await sql`
    with gone as (
      delete from memory_removals where at < now() - ${removalsKeptMs} * interval '1 millisecond'
      returning space_id, version),
    newest as (select space_id, max(version) as version from gone group by space_id)
    update memory_spaces s
    set forgotten_version = greatest(s.forgotten_version, newest.version)
    from newest where s.id = newest.space_id`;
}
