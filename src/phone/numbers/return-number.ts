import { LIMITS } from '../../kernel/limits.ts';
import { CarrierFailed } from '../carriers/carrier.ts';
import { askCarrier } from './ask-carrier.ts';
import type { PhoneNumber } from './number.ts';
import type { NumberDeps } from './number-deps.ts';
import { saveDue, saveReturned } from './number-store.ts';

/**
 * Gives a number back to its carrier. May be repeated; where the carrier fails, a worker tries again. A carrier that refuses
 * is asked once a day, since an operator has to look at it.
 */
export async function returnNumber(
  { sql, seller, clock, now, log }: Omit<NumberDeps, 'ledger'>,
  number: PhoneNumber,
): Promise<void> {
  const { id: numberId, carrierNumberId } = number;
  // It is another carrier's: who sold it is not configured at present.
  if (number.carrier !== seller.name) return;
  try {
    if (carrierNumberId !== null) {
      await askCarrier(clock, seller.numbers.release(carrierNumberId));
    }
    await saveReturned(sql, numberId, carrierNumberId, new Date(now()));
  } catch (err) {
    if (!(err instanceof CarrierFailed)) throw err;
    const isRefused = err.kind !== 'away';
    log.warn({ err, numberId, isRefused }, 'a released number is not back at its carrier yet');
    const { rentalRetryMs, unfinishedMs } = LIMITS.phone;
    await saveDue(sql, number, new Date(now() + (isRefused ? rentalRetryMs : unfinishedMs)));
  }
}
