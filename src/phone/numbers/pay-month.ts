import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { PhoneNumber } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { isRented } from './number-store.ts';
import { RENTAL_DESTINATION, rentalOf } from './rental-charge.ts';

export type MonthPayment =
  | { readonly kind: 'paid' }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal }
  /** No payment is due: the number was released, or another process has paid the month. */
  | { readonly kind: 'moot' };

/**
 * Pays the first month that is not paid, once for any number of calls: the posting has the name of the month. A name whose hold
 * the ledger released, because its process died or its answer came late, is used up. The next name of a fixed sequence is taken
 * then, so that a settled posting is always found.
 */
export async function payMonth(deps: NumberDeps, number: PhoneNumber): Promise<MonthPayment> {
  const month = `rental:${number.id}:${number.paidMonths + 1}`;
  for (let n = 1; n <= PHONE_LIMITS.number.rentalPostings; n++) {
    const payment = await payUnder(deps, number, n === 1 ? month : `${month}:${n}`);
    if (payment !== undefined) return payment;
  }
  throw new Error(`${month} has no posting left that is not released`);
}

/** Pays the month with a hold of this id. Undefined when the id is used up, because the ledger has released its hold. */
async function payUnder(
  { sql, ledger }: NumberDeps,
  number: PhoneNumber,
  holdId: string,
): Promise<MonthPayment | undefined> {
  const verdict = await ledger.hold({
    spender: { agentId: number.agentId },
    holdId,
    amountRaw: number.monthlyRentalRaw,
    destination: RENTAL_DESTINATION,
    // A refused rental is not misuse, so it must not suspend the agent.
    isQuiet: true,
  });
  if (verdict.kind === 'refused') return { kind: 'refused', refusal: verdict.refusal };
  const { hold } = verdict;
  if (!(await isRented(sql, number))) {
    await ledger.settle({ hold, actualRaw: 0n, account: 'telephony', source: number.carrier });
    return { kind: 'moot' };
  }
  const settled = await ledger.settle({ hold, ...rentalOf(number) });
  return settled.kind === 'settled' ? { kind: 'paid' } : undefined;
}
