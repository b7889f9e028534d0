import { textArray } from '../../platform/postgres/pg-array.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';

export type PurchaseKind = 'facts' | 'vectors';

type BegunPurchase = {
  readonly workId: string;
  readonly model: string;
  /** Null when nothing was delivered. */
  readonly result: Buffer | null;
};

/** Returns the last purchase of a kind for an item that is not completed; undefined when there is none. */
export async function findPurchase(
  sql: Queryable,
  itemId: string,
  kind: PurchaseKind,
): Promise<BegunPurchase | undefined> {
  const [row] = await sql<BegunPurchase[]>`
    select work_id as "workId", model, result from memory_purchases
    where item_id = ${itemId} and kind = ${kind}`;
  return row;
}

/** Returns the names of the holds of all purchases for an item. */
export async function findWorkIds(sql: Queryable, itemId: string): Promise<readonly string[]> {
  const rows = await sql<{ workId: string }[]>`
    select work_id as "workId" from memory_purchases where item_id = ${itemId}`;
  return rows.map(({ workId }) => workId);
}

/**
 * Stores a purchase before it is made. `replacedRaw`, the charge of the purchase that it replaces, is added to the item's cost
 * in the same statement. Resolves to false when another process has the item; then nothing may be bought here.
 */
export async function beginPurchase(
  sql: Sql,
  begun: {
    readonly claim: string;
    readonly itemId: string;
    readonly kind: PurchaseKind;
    readonly model: string;
    readonly workId: string;
    readonly replacedRaw: bigint;
  },
): Promise<boolean> {
  const { claim, itemId, kind, model, replacedRaw, workId } = begun;
  const rows = await sql`
    with mine as (
      select id from memory_items
      where id = ${itemId} and claim = ${claim} and status = 'processing' for update),
    begun as (
      insert into memory_purchases (item_id, kind, work_id, model)
      select id, ${kind}, ${workId}, ${model} from mine
      on conflict (item_id, kind) do update
      set work_id = excluded.work_id, model = excluded.model, result = null
      returning item_id)
    update memory_items i set cost_raw = i.cost_raw + ${String(replacedRaw)}::bigint
    from begun where i.id = begun.item_id returning 1`;
  return rows.length === 1;
}

/**
 * Stores the replacement of a purchase that was refused, under the name of its hold when that is still stored. Resolves to
 * false when another process has the item.
 */
export async function keepInstead(
  sql: Sql,
  kept: {
    readonly claim: string;
    readonly itemId: string;
    readonly kind: PurchaseKind;
    readonly model: string;
    readonly workId: string;
    readonly result: Buffer;
  },
): Promise<boolean> {
  const { claim, itemId, kind, model, result, workId } = kept;
  const rows = await sql`
    insert into memory_purchases (item_id, kind, work_id, model, result)
    select id, ${kind}, ${workId}, ${model}, ${result} from memory_items
    where id = ${itemId} and claim = ${claim} and status = 'processing' for update
    on conflict (item_id, kind) do update set result = excluded.result
    returning 1`;
  return rows.length === 1;
}

/** Stores the result of a purchase. Nothing is stored for an item that was deleted meanwhile. */
export async function keepResult(sql: Sql, workId: string, result: Buffer, itemId: string) {
  await sql`
    update memory_purchases set result = ${result}
    where item_id = ${itemId} and work_id = ${workId}`;
}

/** Forgets a purchase that was refused. Nothing is held for it. */
export async function forgetPurchase(sql: Sql, itemId: string, workId: string): Promise<void> {
  await sql`
    delete from memory_purchases
    where item_id = ${itemId} and work_id = ${workId} and result is null`;
}

export async function forgetPurchases(tx: Queryable, itemIds: readonly string[]): Promise<void> {
  await tx`delete from memory_purchases where item_id = any(${textArray(itemIds)}::text[])`;
}
