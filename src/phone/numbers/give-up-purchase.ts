import { PHONE_LIMITS } from '../limits.ts';
import { askCarrier } from './ask-carrier.ts';
import { finishPurchase } from './finish-purchase.ts';
import type { PhoneNumber } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { saveDue, saveUnsold } from './number-store.ts';
import { readPurchaseHold } from './purchase-hold.ts';
import { returnNumber } from './return-number.ts';

/** Reason of a purchase without a number: the carrier refused the sale, or knows of none yet. */
export type Unsold = 'refused' | 'not_found';

/**
 * Ends a purchase without a number and releases its first month. If the carrier merely has no record of the purchase, it is
 * looked for once more later, and a number that was sold late is returned.
 */
export async function giveUpPurchase(
  deps: NumberDeps,
  buying: PhoneNumber,
  why: Unsold,
): Promise<void> {
  const { sql, now } = deps;
  const dueAt = new Date(now() + PHONE_LIMITS.number.unfinishedMs);
  if (!(await saveUnsold(sql, buying.id, dueAt))) return;
  await freeFirstMonth(deps, buying);
  await saveDue(
    sql,
    { id: buying.id, status: 'failed' },
    why === 'refused' ? null : lateSaleBy(buying),
  );
}

/** Resolves a purchase that its process has left, by the carrier's record of it. */
export async function resolvePurchase(deps: NumberDeps, buying: PhoneNumber): Promise<void> {
  const { seller, clock, log } = deps;
  const { id: numberId, carrierNumberId, phoneNumber, purchaseId } = buying;
  const sold =
    carrierNumberId === null
      ? await askCarrier(clock, seller.numbers.findPurchase(purchaseId))
      : { carrierNumberId, phoneNumber };
  log.warn({ numberId, isSold: sold !== undefined }, 'a purchase that was left is ended');
  if (sold === undefined) await giveUpPurchase(deps, buying, 'not_found');
  else await finishPurchase(deps, buying, sold);
}

/** Clears up after a failed purchase: frees its hold, and returns a number that was sold after all. */
export async function clearFailed(deps: NumberDeps, failed: PhoneNumber): Promise<void> {
  const { sql, seller, clock, now } = deps;
  await freeFirstMonth(deps, failed);
  if (failed.carrierNumberId !== null) return returnNumber(deps, failed);
  const sold = await askCarrier(clock, seller.numbers.findPurchase(failed.purchaseId));
  if (sold !== undefined) return returnNumber(deps, { ...failed, ...sold });
  const lookAgainAt = lateSaleBy(failed);
  await saveDue(sql, failed, now() < lookAgainAt.getTime() ? lookAgainAt : null);
}

async function freeFirstMonth({ sql, ledger }: NumberDeps, number: PhoneNumber): Promise<void> {
  const hold = await readPurchaseHold(sql, number);
  await ledger.settle({ hold, actualRaw: 0n, account: 'telephony', source: number.carrier });
}

const lateSaleBy = ({ createdAt }: PhoneNumber): Date =>
  new Date(createdAt.getTime() + PHONE_LIMITS.number.lateSaleMs);
