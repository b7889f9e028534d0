import { type Clock, within } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { CarrierFailed } from '../carriers/carrier.ts';

/**
 * Waits up to `LIMITS.phone.carrierMs` for a carrier. A late answer rejects as `away`: the carrier may still carry the request
 * out.
 */
export const askCarrier = <T>(clock: Clock, answer: Promise<T>): Promise<T> =>
  within(clock, LIMITS.phone.carrierMs, answer, (): never => {
    throw new CarrierFailed('away', 'the carrier did not answer in time');
  });
