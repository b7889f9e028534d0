import { CarrierFailed } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { askCarrier } from './ask-carrier.ts';
import type { PhoneNumber } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { findLivingStatus, saveDue, saveReturned } from './number-store.ts';

/**
 * Returns a number to its carrier. May be repeated; a worker retries after a failure. A carrier that refuses gets a new request
 * once a day, since an operator has to look at it.
 */
export async function returnNumber(
  { sql, seller, clock, now, log }: Omit<NumberDeps, 'ledger'>,
  number: PhoneNumber,
): Promise<void> {
  const { id: numberId, carrierNumberId, phoneNumber } = number;
  const { rentalRetryMs, unfinishedMs } = PHONE_LIMITS.number;
  const lookAgain = (inMs: number) => saveDue(sql, number, new Date(now() + inMs));
  // Another carrier sold the number, and is not configured at present.
  if (number.carrier !== seller.name) return;
  const living = await findLivingStatus(sql, phoneNumber);
  // A new purchase of the number is in progress. Its success will show that the carrier has the number back.
  if (living === 'buying') return lookAgain(unfinishedMs);
  try {
    // A number that is rented again was returned before. Some carriers use the number as its id: a second return would take the
    // number from its new agent.
    if (carrierNumberId !== null && living === undefined) {
      await askCarrier(clock, seller.numbers.release(carrierNumberId));
    }
    await saveReturned(sql, numberId, carrierNumberId, new Date(now()));
  } catch (err) {
    if (!(err instanceof CarrierFailed)) throw err;
    const isRefused = err.kind !== 'away';
    log.warn({ err, numberId, isRefused }, 'a released number is not back at its carrier yet');
    await lookAgain(isRefused ? rentalRetryMs : unfinishedMs);
  }
}
