import { isObject, type Json } from '../../kernel/json.ts';
import type { BilledSeconds } from './seconds-meter.ts';

/** Returns the `session.start` event for an upstream, with the upstream's name of the model. */
export const startEvent = (session: Json, model: string, eventId: string | null): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: 'session.start',
      ...(eventId !== null && { event_id: eventId }),
      session: { ...session, model },
    }),
  );

/** Returns an upstream's event for the client: with the catalogue's name of the model, and with the billed usage. */
export const shownEvent = (event: Json, session: Json, billed: Json): Json => ({
  ...event,
  ...(isObject(event.session) && { session }),
  ...(reportsUsage(event) && { usage: { ...(isObject(event.usage) && event.usage), ...billed } }),
});

/**
 * Returns true when an event states usage to the client. The end of a session always does, even when the upstream's event does
 * not.
 */
const reportsUsage = ({ type, usage }: Json): boolean =>
  isObject(usage) || type === 'session.usage.updated' || type === 'session.closed';

/** Returns the billed usage as the client sees it: the seconds so far, and their cost. */
export const usageOf = ({ costRaw, seconds }: BilledSeconds): Json => ({
  seconds,
  cost_raw: String(costRaw),
});
