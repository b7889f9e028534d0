import { z } from 'zod';
import type { EventKind } from './catalogue.ts';

const known = new Map<string, Readonly<Record<string, unknown>>>();

/** The JSON Schema of what a webhook receives of one kind of event. Members may come to be added. */
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
