import { ApiError } from '../../kernel/api-error.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { type Bill, ModelRefused } from './models.ts';
import {
  beginPurchase,
  findPurchase,
  forgetPurchase,
  keepResult,
  type PurchaseKind,
} from './purchase-store.ts';

/** What became of the holds of some work, by the ledger. */
interface Works {
  /** Work that has set no money aside never does from here on. */
  forbid(workId: string, agentId: number): Promise<void>;
  fateOf(
    workId: string,
  ): Promise<
    | { readonly kind: 'unpaid' | 'undecided' }
    | { readonly kind: 'charged'; readonly chargedRaw: bigint }
  >;
}

/** An earlier purchase for the item is not decided yet: a process that died, or one that is slow, has its hold. */
export class PurchaseOpen extends Error {
  override readonly name = 'PurchaseOpen';
}

/** Another process has claimed the item. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

export type BuyOnceDeps = { readonly sql: Sql; readonly random: Random; readonly works: Works };

/** How a result is kept. `decode`: undefined where it does not fit any more. */
export type Codec<T> = {
  encode(result: T): Buffer;
  decode(bytes: Buffer): T | undefined;
};

/**
 * Buys what an item needs at most once, in any number of processes: the purchase is written down before it is made and
 * its result before it is charged. The process that goes on with the item takes the result that is there, and buys only when the
 * ledger has nothing open for an earlier purchase. Throws PurchaseOpen, ClaimLost, and as `buy` does.
 */
export async function buyOnce<T>(
  { random, sql, works }: BuyOnceDeps,
  wanted: {
    readonly claim: string;
    readonly item: { readonly id: string; readonly agentId: number };
    readonly kind: PurchaseKind;
    readonly model: string;
    readonly codec: Codec<T>;
  },
  buy: (workId: string, keep: (result: T) => Promise<void>) => Promise<Bill>,
): Promise<{ readonly result: T; readonly costRaw: bigint }> {
  const { claim, codec, item, kind, model } = wanted;
  const before = await findPurchase(sql, item.id, kind);
  if (before !== undefined) {
    await works.forbid(before.workId, item.agentId);
    const fate = await works.fateOf(before.workId);
    if (fate.kind === 'undecided') throw new PurchaseOpen('an earlier purchase is not decided');
    const isMine = before.result !== null && before.model === model;
    const result = isMine ? codec.decode(before.result) : undefined;
    if (result !== undefined) {
      return { result, costRaw: fate.kind === 'charged' ? fate.chargedRaw : 0n };
    }
  }
  const workId = newId(random, 'mem_buy_');
  if (!(await beginPurchase(sql, { claim, itemId: item.id, kind, model, workId }))) {
    throw new ClaimLost('another process has the item');
  }
  let kept: { readonly result: T } | undefined;
  try {
    const { costRaw } = await buy(workId, async (result) => {
      await keepResult(sql, workId, codec.encode(result), item.id);
      kept = { result };
    });
    if (kept === undefined) throw new Error('a purchase was charged and delivered nothing');
    return { result: (kept as { readonly result: T }).result, costRaw };
  } catch (error) {
    // Of these alone it is known that nothing is held.
    if (kept === undefined && isClean(error)) await forgetPurchase(sql, item.id, workId);
    throw error;
  }
}

const isClean = (error: unknown): boolean =>
  error instanceof ModelRefused || (error instanceof ApiError && error.status === 402);
