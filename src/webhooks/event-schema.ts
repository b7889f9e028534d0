import { z } from 'zod';
import type { EventKind } from './catalogue.ts';

const known = new Map<string, Readonly<Record<string, unknown>>>();

/** Returns the JSON Schema of the body that a webhook receives for one kind of event. Later versions may add members. */
export function eventSchema({ name, payload }: EventKind): Readonly<Record<string, unknown>> {
  const made =
    known.get(name) ??
    (z.toJSONSchema(
      z.looseObject({
        event: z.literal(name),
        ...payload.shape,
        sequence: z.int().describe('Rises from event to event of one subject'),
        firedAt: z.iso.datetime(),
      }),
    ) as Readonly<Record<string, unknown>>);
  known.set(name, made);
  return made;
}
