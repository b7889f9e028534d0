import { isObject, type Json } from '../../kernel/json.ts';

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
  ...(isObject(event.usage) && { usage: { ...event.usage, ...billed } }),
});
