import { ApiError } from '../../kernel/api-error.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { ModelRefused, type PurchaseCost } from './models.ts';
import {
  beginPurchase,
  findPurchase,
  findWorkIds,
  forgetPurchase,
  keepResult,
  type PurchaseKind,
} from './purchase-store.ts';

/** The ledger's outcomes for the holds of one piece of work. */
interface Works {
  /** Forbids the work to hold money from now on. A hold that it already has stays. */
  forbid(workId: string, agentId: number): Promise<void>;
  fateOf(
    workId: string,
  ): Promise<
    | { readonly kind: 'unpaid' | 'undecided' }
    | { readonly kind: 'charged'; readonly chargedRaw: bigint }
  >;
}

/** Thrown when an earlier purchase for the item is not decided yet. A process that died or is slow has its hold. */
export class PurchaseOpen extends Error {
  override readonly name = 'PurchaseOpen';
}

/** Thrown when another process has claimed the item. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

export type BuyOnceDeps = { readonly sql: Sql; readonly random: Random; readonly works: Works };

/** Converts a result to bytes and back. `decode` returns undefined when the result no longer fits its item. */
export type Codec<T> = {
  encode(result: T): Buffer;
  decode(bytes: Buffer): T | undefined;
};

type Wanted<T> = {
  readonly item: { readonly id: string; readonly agentId: number };
  readonly kind: PurchaseKind;
  readonly codec: Codec<T>;
};

type Bought<R> = {
  readonly result: R;
  /** Amount that the ledger charged for the purchase. */
  readonly costRaw: bigint;
  readonly model: string;
};

/**
 * Buys a result for an item at most once, in any number of processes: the purchase is stored before it is made, and its result
 * before it is charged. A process that continues with the item uses the stored result, of whichever model, and buys only when
 * the ledger has no open hold of an earlier purchase. When an earlier purchase was charged and its result no longer fits, its
 * charge is added to the item's cost. Throws PurchaseOpen, ClaimLost, and as `buy` does.
 */
export async function buyOnce<T>(
  deps: BuyOnceDeps,
  wanted: Wanted<T> & { readonly claim: string; readonly model: string },
  buy: (workId: string, keep: (result: T) => Promise<void>) => Promise<PurchaseCost>,
): Promise<Bought<T>> {
  const { random, sql } = deps;
  const { claim, codec, item, kind, model } = wanted;
  const before = await findBought(deps, wanted);
  const { costRaw: replacedRaw = 0n, result: kept } = before ?? {};
  if (before !== undefined && kept !== undefined) return { ...before, result: kept };
  const workId = newId(random, 'mem_buy_');
  const begun = { claim, itemId: item.id, kind, model, workId, replacedRaw };
  if (!(await beginPurchase(sql, begun))) throw new ClaimLost('another process has the item');
  let delivered: { readonly result: T } | undefined;
  try {
    const { costRaw } = await buy(workId, async (result) => {
      await keepResult(sql, workId, codec.encode(result), item.id);
      delivered = { result };
    });
    if (delivered === undefined) throw new Error('a purchase was charged and delivered nothing');
    return { result: (delivered as { readonly result: T }).result, costRaw, model };
  } catch (error) {
    // The ledger decides whether it was charged. A delivered result is stored for the next attempt.
    if (delivered !== undefined) throw new PurchaseOpen('a purchase ended oddly', { cause: error });
    // A clean error means that no money is held. After other errors a hold may exist, so that the purchase is kept.
    if (isClean(error)) await forgetPurchase(sql, item.id, workId);
    throw error;
  }
}

/**
 * Returns the purchase of a kind that was made for an item, as decided by the ledger; undefined when none was made. `result` is
 * undefined when it does not fit or nothing was delivered. Throws PurchaseOpen.
 */
export async function findBought<T>(
  { sql, works }: Omit<BuyOnceDeps, 'random'>,
  { codec, item, kind }: Wanted<T>,
): Promise<Bought<T | undefined> | undefined> {
  const begun = await findPurchase(sql, item.id, kind);
  if (begun === undefined) return undefined;
  const costRaw = await chargedFor(works, begun.workId, item.agentId);
  // A slow process may have stored its result and settled after the row was read, so the row is read again.
  const last = begun.result === null ? await findPurchase(sql, item.id, kind) : begun;
  const bytes = last?.result ?? null;
  const result = bytes === null ? undefined : codec.decode(bytes);
  return { result, costRaw, model: begun.model };
}

/** Returns the cost of all purchases for an item that are still written down. Throws PurchaseOpen. */
export async function spentOn(
  { sql, works }: Omit<BuyOnceDeps, 'random'>,
  item: Wanted<unknown>['item'],
): Promise<bigint> {
  let spentRaw = 0n;
  for (const workId of await findWorkIds(sql, item.id)) {
    spentRaw += await chargedFor(works, workId, item.agentId);
  }
  return spentRaw;
}

async function chargedFor(works: Works, workId: string, agentId: number): Promise<bigint> {
  await works.forbid(workId, agentId);
  const fate = await works.fateOf(workId);
  if (fate.kind === 'undecided') throw new PurchaseOpen('an earlier purchase is not decided');
  return fate.kind === 'charged' ? fate.chargedRaw : 0n;
}

const isClean = (error: unknown): boolean =>
  error instanceof ModelRefused || (error instanceof ApiError && error.status === 402);
