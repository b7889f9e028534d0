import { CARRIER_STATUSES, type CarrierStatus } from '../carrier.ts';

const isKnown = (text: string): text is CarrierStatus =>
  (CARRIER_STATUSES as readonly string[]).includes(text);

/** Returns the carrier status for Twilio's name of a status. Callbacks say `initiated` for the API's `queued`. */
export function statusOf(text: string): CarrierStatus | undefined {
  if (text === 'initiated') return 'queued';
  return isKnown(text) && text !== 'invalid' ? text : undefined;
}

/** Returns true when a call in this state is over. */
export const isOver = (status: CarrierStatus): boolean =>
  status !== 'queued' && status !== 'ringing' && status !== 'in-progress';
