import { CarrierFailed, type OfferedNumber } from '../carriers/carrier.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { askCarrier } from './ask-carrier.ts';
import type { NumberDeps } from './number-deps.ts';

/** Returns the numbers that the carrier offers now. Nothing is reserved. Throws 503 when the carrier does not answer. */
export async function searchNumbers(
  { seller, clock, log }: Pick<NumberDeps, 'seller' | 'clock' | 'log'>,
  query: {
    readonly areaCode?: string | undefined;
    readonly phoneNumber?: string | undefined;
    readonly country?: string | undefined;
  },
): Promise<readonly OfferedNumber[]> {
  const limit = PHONE_LIMITS.number.searchResults;
  try {
    const offers = await askCarrier(clock, seller.numbers.search({ ...query, limit }));
    return offers.slice(0, limit);
  } catch (err) {
    if (!(err instanceof CarrierFailed)) throw err;
    log.warn({ err, kind: err.kind }, 'the carrier did not search for numbers');
    throw phoneErrors.carrierAway();
  }
}
