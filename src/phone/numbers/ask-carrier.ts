import { type Clock, within } from '../../kernel/clock.ts';
import { CarrierFailed } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';

/**
 * Waits up to `PHONE_LIMITS.number.carrierMs` for a carrier. A late answer rejects as `away`: the carrier may still carry the request
 * out.
 */
export const askCarrier = <T>(clock: Clock, answer: Promise<T>): Promise<T> =>
  within(clock, PHONE_LIMITS.number.carrierMs, answer, (): never => {
    throw new CarrierFailed('away', 'the carrier did not answer in time');
  });
