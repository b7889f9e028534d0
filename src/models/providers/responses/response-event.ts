import type { Json } from '../../../kernel/json.ts';

/** One server-sent event of the dialect of Responses: its type is its name, too. */
export const writeEvent = (event: Json & { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** How a response ends, by its status; one that was cancelled has no event of its own. */
const LAST_EVENTS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
};

/** The last event of a stream, with further members where there are any. */
export const lastEvent = (response: Json, sequenceNumber: number, more?: Json): string =>
  writeEvent({
    type: LAST_EVENTS[String(response.status)] ?? 'response.incomplete',
    sequence_number: sequenceNumber,
    ...more,
    response,
  });
