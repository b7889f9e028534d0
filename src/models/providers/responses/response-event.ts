import type { Json } from '../../../kernel/json.ts';
import { joinPieces } from '../../../kernel/long-work.ts';

/** Writes one server-sent event of the Responses dialect. Its name is its type. */
export const writeEvent = (event: Json & { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Last event of a response by its status. Every other status, also `cancelled`, ends with `response.incomplete`. */
const LAST_EVENTS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
};

const END = Buffer.from('}\n\n');

/** Writes the last event of a stream, by the status and the JSON of its response. `more` has further members. */
export async function lastEvent(
  { status, written }: { readonly status: unknown; readonly written: Buffer },
  sequenceNumber: number,
  more?: Json,
): Promise<Buffer> {
  const type = LAST_EVENTS[String(status)] ?? 'response.incomplete';
  const head = JSON.stringify({ type, sequence_number: sequenceNumber, ...more }).slice(0, -1);
  const begin = Buffer.from(`event: ${type}\ndata: ${head},"response":`);
  return joinPieces([begin, written, END]);
}
