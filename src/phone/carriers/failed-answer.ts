import { CarrierFailed } from './carrier.ts';

/** What carriers answer in place of a failure that says nothing about the request itself. */
const UNDECIDED = new Set([408, 425, 429]);

/** Whether a request that was answered with this status may have been carried out, or may succeed later. */
export const kindOfStatus = (status: number): 'refused' | 'away' =>
  status >= 400 && status < 500 && !UNDECIDED.has(status) ? 'refused' : 'away';

/** The failure of a request that has no answer, or none that can be read. */
export const carrierAway = (carrier: string, cause: unknown): CarrierFailed =>
  new CarrierFailed('away', `${carrier} gave no answer`, { cause });
