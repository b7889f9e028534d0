import type { CarrierNumber } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { moveNumber, releaseNumber } from './move-number.ts';
import type { PhoneNumber } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { lockNumber, saveSold, shareAgentStatus } from './number-store.ts';
import { readPurchaseHold } from './purchase-hold.ts';
import { monthsAfter } from './renewal-date.ts';
import { rentalOf } from './rental-charge.ts';
import { returnNumber } from './return-number.ts';

/** A number that was bought, and the amount charged for it. */
export type PurchasedNumber = { readonly number: PhoneNumber; readonly chargedRaw: bigint };

/**
 * Finishes a purchase that the carrier has made: stores the carrier's number id, charges the first month, and activates the
 * number. Any process may repeat each step. Undefined when the purchase was given up meanwhile: the number is then returned
 * without a charge.
 */
export async function finishPurchase(
  deps: NumberDeps,
  buying: PhoneNumber,
  sold: CarrierNumber,
): Promise<PurchasedNumber | undefined> {
  const { sql, ledger, now } = deps;
  const { carrierNumberId } = sold;
  const dueAt = new Date(now() + PHONE_LIMITS.number.unfinishedMs);
  // With the carrier's number id in the row, no process gives the purchase up any more.
  if (!(await saveSold(sql, buying.id, carrierNumberId, dueAt))) {
    await returnUnlessBought(deps, buying.id, carrierNumberId);
    return undefined;
  }
  const hold = await readPurchaseHold(sql, buying);
  const verdict = await ledger.settle({ hold, ...rentalOf(buying, buying) });
  if (verdict.kind === 'already_resolved') {
    await giveUpUnpaid(deps, { ...buying, carrierNumberId });
    return undefined;
  }
  return { number: await activate(deps, buying), chargedRaw: verdict.chargedRaw };
}

/** Returns a number whose purchase has failed to the carrier. Keeps a number whose purchase another process has finished. */
async function returnUnlessBought(
  deps: NumberDeps,
  id: number,
  carrierNumberId: string,
): Promise<void> {
  const number = await deps.sql.begin((tx) => lockNumber(tx, id));
  if (number?.status === 'failed') await returnNumber(deps, { ...number, carrierNumberId });
}

/** Gives up a purchased number whose hold for the first month is gone, so that it cannot be paid. */
async function giveUpUnpaid(deps: NumberDeps, sold: PhoneNumber): Promise<void> {
  const { sql, now, log } = deps;
  log.error({ numberId: sold.id }, 'a number was bought whose first month is not held any more');
  const failed = await moveNumber(sql, sold, 'purchase.failed', { dueAt: new Date(now()) });
  if (failed !== undefined) await returnNumber(deps, failed);
}

/** Activates a number. An agent that was closed during the purchase gives its number back at once. */
function activate({ sql, now }: NumberDeps, buying: PhoneNumber): Promise<PhoneNumber> {
  return sql.begin(async (tx) => {
    const agentStatus = await shareAgentStatus(tx, buying.agentId);
    const number = (await lockNumber(tx, buying.id)) ?? buying;
    const nextRenewalAt = monthsAfter(number.createdAt, 1);
    const active = await moveNumber(tx, number, 'purchase.settled', {
      paidMonths: 1,
      nextRenewalAt,
      dueAt: nextRenewalAt,
    });
    if (active === undefined || agentStatus !== 'closed') return active ?? number;
    const at = new Date(now());
    return (await releaseNumber(tx, active, 'agent_winddown', { at, dueAt: at })) ?? active;
  }) as Promise<PhoneNumber>;
}
