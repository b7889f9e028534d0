import type { Spender } from '../../ledger/rules/requests.ts';
import { numberArray, textArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import { MEMORY_LIMITS } from '../limits.ts';
import type { ItemType, Metadata } from '../memory-shape.ts';
import { forgetPurchases } from '../purchase/purchase-store.ts';

/** Item that this process is indexing. No other process works on it until the claim expires. */
export type ClaimedItem = {
  readonly id: string;
  readonly spaceId: number;
  readonly agentId: number;
  readonly model: string;
  /** Number of dimensions of its namespace's vectors; 0 while there are none. */
  readonly dims: number;
  readonly type: ItemType;
  readonly text: string;
  readonly infer: boolean;
  readonly metadata: Metadata;
  readonly title: string | null;
  readonly attempts: number;
  /** Number of refused purchases for the item. */
  readonly waits: number;
  /** True when a purchase for the item was made before or is in progress. */
  readonly hasPurchases: boolean;
  /** Spender of the purchases that index the item. */
  readonly spender: Spender;
};

/** Namespace that has items to index. */
export type Queue = {
  readonly agentId: number;
  readonly spaceId: number;
  /** True when some of its items can be claimed now. */
  readonly isDue: boolean;
};

/** Examined agents in ascending order, each with its next namespaces in ascending order. The list may be empty. */
export type Looked = ReadonlyMap<number, readonly Queue[]>;

/**
 * Finds the next agents with items to index, and for each agent the next namespaces after its last examined namespace. Steps
 * over the index, so the number of items does not matter.
 */
export async function lookForWork(
  sql: Sql,
  { after, places }: { readonly after: number; readonly places: ReadonlyMap<number, number> },
): Promise<Looked> {
  const { agentsPerLook, spacesPerLook } = MEMORY_LIMITS.indexing;
  const rows = await sql<{ agentId: number; spaceId: number | null; isDue: boolean }[]>`
    with recursive agents as (
      (select agent_id, 1 as place from memory_items
        where due_at is not null and agent_id > ${after}
        order by agent_id, space_id, due_at limit 1)
      union all
      select (select i.agent_id from memory_items i
        where i.due_at is not null and i.agent_id > a.agent_id
        order by i.agent_id, i.space_id, i.due_at limit 1), a.place + 1
      from agents a where a.agent_id is not null and a.place < ${agentsPerLook}),
    places as (
      select * from unnest(${numberArray([...places.keys()])}::int[],
        ${numberArray([...places.values()])}::int[]) as p(agent_id, space_id))
    select a.agent_id as "agentId", q.space_id as "spaceId",
      exists (select 1 from memory_spaces s where s.id = q.space_id and s.deleted_at is null)
        and exists (select 1 from memory_items d where d.agent_id = a.agent_id
          and d.space_id = q.space_id and d.due_at is not null and d.due_at <= now()) as "isDue"
    from agents a left join places p on p.agent_id = a.agent_id
    left join lateral (
      with recursive walk as (
        (select i.space_id, 1 as place from memory_items i
          where i.due_at is not null and i.agent_id = a.agent_id
            and i.space_id > coalesce(p.space_id, 0)
          order by i.space_id, i.due_at limit 1)
        union all
        select (select i.space_id from memory_items i
          where i.due_at is not null and i.agent_id = a.agent_id and i.space_id > w.space_id
          order by i.space_id, i.due_at limit 1), w.place + 1
        from walk w where w.space_id is not null and w.place < ${spacesPerLook})
      select space_id from walk where space_id is not null) q on true
    where a.agent_id is not null order by a.agent_id, q.space_id`;
  const looked = new Map<number, Queue[]>();
  for (const { agentId, isDue, spaceId } of rows) {
    const queues = looked.get(agentId) ?? [];
    if (spaceId !== null) queues.push({ agentId, spaceId, isDue });
    looked.set(agentId, queues);
  }
  return looked;
}

/** Claims up to `itemsPerClaim` due items of each namespace, so that a namespace with thousands of items delays only itself. */
export async function claimItems(
  sql: Sql,
  { claim, queues }: { readonly claim: string; readonly queues: readonly Queue[] },
): Promise<readonly ClaimedItem[]> {
  const { claimMs, itemsPerClaim } = MEMORY_LIMITS.indexing;
  return sql<ClaimedItem[]>`
    with open_to as (
      select s.id as space_id, s.agent_id from memory_spaces s
      where s.id = any(${numberArray(queues.map(({ spaceId }) => spaceId))}::int[])
        and s.deleted_at is null),
    due as materialized (
      select d.id from open_to o, lateral (
        select id from memory_items
        where agent_id = o.agent_id and space_id = o.space_id
          and due_at is not null and due_at <= now()
        order by due_at limit ${itemsPerClaim} for update skip locked) d)
    update memory_items i set status = 'processing', claim = ${claim},
      due_at = now() + ${claimMs} * interval '1 millisecond'
    from due, memory_spaces s where i.id = due.id and s.id = i.space_id
    returning i.id, i.space_id as "spaceId", i.agent_id as "agentId", s.model, s.dims, i.type, i.text,
      i.infer, i.metadata, i.title, i.attempts::int as attempts, i.waits::int as waits,
      exists (select 1 from memory_purchases p where p.item_id = i.id) as "hasPurchases",
      coalesce(i.spender, jsonb_build_object('agentId', i.agent_id)) as spender`;
}

/** Extends the claims on items that are still being indexed. */
export async function renewClaims(sql: Sql, claims: readonly string[], ids: readonly string[]) {
  await sql`
    with held as (
      select id from memory_items where id = any(${textArray(ids)}::text[])
        and claim = any(${textArray(claims)}::text[]) and status = 'processing'
      for update skip locked)
    update memory_items i
    set due_at = now() + ${MEMORY_LIMITS.indexing.claimMs} * interval '1 millisecond'
    from held where i.id = held.id`;
}

export type IndexedChunk = {
  readonly itemId: string;
  readonly type: ItemType;
  readonly content: string;
  readonly vector: Float32Array;
};

/** Cost and result of an item's purchases that are still written down. */
export type ItemPurchases = {
  readonly costRaw: bigint;
  readonly inferredBy: string | null;
  readonly inferError: string | null;
};

export type OnChunks = (
  tx: Queryable,
  written: { readonly spaceId: number; readonly version: number },
) => Promise<void>;

/** Thrown for vectors of another length than the vectors of their namespace, which cannot be compared. */
class OtherSpace extends Error {
  override readonly name = 'OtherSpace';

  constructor(dims: number, given: number) {
    super(`a vector of ${given} numbers for a namespace of ${dims}`);
  }
}

/**
 * Writes the chunks of items and completes the items in one commit. Leaves out items that were deleted meanwhile or whose
 * claim has passed to another process. Returns the number of completed items.
 */
export async function completeItems(
  sql: Sql,
  claimed: {
    readonly claim: string;
    readonly spaceId: number;
    /** Search terms of each item's metadata, by item id. */
    readonly terms: ReadonlyMap<string, readonly string[]>;
    /** Purchases for each of the items. Absent when nothing was bought. */
    readonly bought?: ItemPurchases | undefined;
  },
  chunks: readonly IndexedChunk[],
  onChunks?: OnChunks,
): Promise<number> {
  const { bought, claim, spaceId, terms } = claimed;
  const dims = chunks[0]?.vector.length ?? 0;
  return sql.begin(async (tx) => {
    const held = await tx<{ id: string }[]>`
      select id from memory_items where id = any(${textArray([...terms.keys()])}::text[])
        and claim = ${claim} and status = 'processing' order by id for update`;
    if (held.length === 0) return 0;
    const mine = new Set(held.map(({ id }) => id));
    // The lock on this row orders the commits of a space: a reader of version n finds the chunks of all versions up to n.
    const [risen] = await tx<{ version: string; dims: number }[]>`
      update memory_spaces set version = version + 1,
        dims = case when dims = 0 then ${dims} else dims end
      where id = ${spaceId} and deleted_at is null returning version::text, dims`;
    if (risen === undefined) return 0;
    if (bought !== undefined && risen.dims !== dims) throw new OtherSpace(risen.dims, dims);
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
      update memory_items set status = 'completed', claim = null, due_at = null, reason = null,
        needs_raw = null, cost_raw = cost_raw + ${String(bought?.costRaw ?? 0n)}::bigint,
        inferred_by = ${bought?.inferredBy ?? null}, infer_error = ${bought?.inferError ?? null}
      where id = any(${textArray([...mine])}::text[])`;
    if (bought !== undefined) await forgetPurchases(tx, [...mine]);
    return mine.size;
  });
}

const hexOf = ({ buffer, byteLength, byteOffset }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('hex');

/**
 * Releases items, to be claimed again after a while. With `failed` the attempt counts as a failure of each item; after too many
 * failures an item has failed for good: its purchases are forgotten, and `spentRaw` is added to its cost.
 */
export async function releaseItems(
  sql: Sql,
  claimed: { readonly claim: string; readonly ids: readonly string[] },
  released: { readonly failed: boolean; readonly waitMs: number; readonly spentRaw?: bigint },
): Promise<void> {
  const { attempts } = MEMORY_LIMITS.indexing;
  const { failed, spentRaw = 0n, waitMs } = released;
  const more = failed ? 1 : 0;
  await sql`
    with held as (
      select id, attempts + ${more} >= ${attempts} as is_over from memory_items
      where id = any(${textArray(claimed.ids)}::text[])
        and claim = ${claimed.claim} and status = 'processing' order by id for update),
    forgotten as (
      delete from memory_purchases p using held where p.item_id = held.id and held.is_over)
    update memory_items i set claim = null, attempts = i.attempts + ${more}::smallint,
      status = case when held.is_over then 'failed' else 'queued' end,
      cost_raw = i.cost_raw + case when held.is_over then ${String(spentRaw)}::bigint else 0 end,
      due_at = case when held.is_over then null
        else now() + ${waitMs} * power(2, i.attempts) * interval '1 millisecond' end
    from held where i.id = held.id`;
}

/**
 * Puts an item whose purchase was refused back into the queue. The wait grows with each refusal, and ends early when the agent
 * has enough balance. After too many refusals, or with `isOver`, the item fails for good: its purchases are deleted, and
 * `spentRaw` is added to its cost.
 */
export async function refuseItem(
  sql: Sql,
  { claim, id }: { readonly claim: string; readonly id: string },
  refused: {
    readonly reason: string;
    readonly needsRaw: bigint | null;
    readonly isOver: boolean;
    readonly spentRaw: bigint;
  },
): Promise<void> {
  const { first, most, times } = MEMORY_LIMITS.indexing.refusedMs;
  const { isOver, needsRaw, reason, spentRaw } = refused;
  await sql`
    with held as (
      select id, ${isOver} or waits + 1 >= ${times} as is_over from memory_items
      where id = ${id} and claim = ${claim} and status = 'processing' for update),
    forgotten as (
      delete from memory_purchases p using held where p.item_id = held.id and held.is_over)
    update memory_items i set claim = null, waits = i.waits + 1, reason = ${reason},
      needs_raw = case when held.is_over then null else ${needsRaw === null ? null : String(needsRaw)}::bigint end,
      status = case when held.is_over then 'failed' else 'queued' end,
      cost_raw = i.cost_raw + case when held.is_over then ${String(spentRaw)}::bigint else 0 end,
      due_at = case when held.is_over then null else now() + least(${most}::float8,
        ${first} * power(2, i.waits)) * interval '1 millisecond' end
    from held where i.id = held.id`;
}

/**
 * Makes some items due that wait for a balance which their agents have now. One balance may wake more items than it covers, so
 * each item's count of refusals is lowered by one: items that are refused again wait no longer than before.
 */
export async function wakeAffordable(sql: Sql): Promise<void> {
  await sql`
    with affordable as (
      select i.id from memory_items i join agent_funds f on f.agent_id = i.agent_id
      where i.needs_raw is not null and i.status = 'queued' and f.spendable_raw >= i.needs_raw
      limit ${MEMORY_LIMITS.indexing.wokenAtOnce} for update of i skip locked)
    update memory_items i set due_at = now(), needs_raw = null, waits = greatest(i.waits - 1, 0)
    from affordable a where i.id = a.id`;
}

/** Deletes records of removals that every process has long applied. */
export async function forgetRemovals(sql: Sql): Promise<void> {
  const { removalsKeptMs } = MEMORY_LIMITS.sweep;
  await sql`
    with gone as (
      delete from memory_removals where at < now() - ${removalsKeptMs} * interval '1 millisecond'
      returning space_id, version),
    newest as (select space_id, max(version) as version from gone group by space_id)
    update memory_spaces s
    set forgotten_version = greatest(s.forgotten_version, newest.version)
    from newest where s.id = newest.space_id`;
}
