import { type Clock, within } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { CarrierFailed } from '../carriers/carrier.ts';

/** Waits a bounded time for a carrier. Rejects as `away` where it is late: what it was asked for may still be done. */
export const askCarrier = <T>(clock: Clock, answer: Promise<T>): Promise<T> =>
  within(clock, LIMITS.phone.carrierMs, answer, (): never => {
    throw new CarrierFailed('away', 'the carrier did not answer in time');
  });
