import { isObject, type Json } from '../../kernel/json.ts';
import type { BilledSeconds } from './seconds-meter.ts';

/** The `session.start` of an upstream, under its own name of the model. */
export const startEvent = (session: Json, model: string, eventId: string | null): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: 'session.start',
      ...(eventId !== null && { event_id: eventId }),
      session: { ...session, model },
    }),
  );

/** An event of the upstream as its client sees it: with the catalogue's name of the model, and with the usage that is billed. */
export const shownEvent = (event: Json, session: Json, billed: Json): Json => ({
  ...event,
  ...(isObject(event.session) && { session }),
  ...(reportsUsage(event) && { usage: { ...(isObject(event.usage) && event.usage), ...billed } }),
});

/** The end of a session states its usage, whether the upstream does so or not. */
const reportsUsage = ({ type, usage }: Json): boolean =>
  isObject(usage) || type === 'session.usage.updated' || type === 'session.closed';

/** Returns the billed usage as the client sees it: the seconds so far, and their cost. */
export const usageOf = ({ costRaw, seconds }: BilledSeconds): Json => ({
  seconds,
  cost_raw: String(costRaw),
});
