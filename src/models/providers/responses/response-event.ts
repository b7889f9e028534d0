import type { Json } from '../../../kernel/json.ts';
import { joinPieces } from '../../../kernel/long-work.ts';

/** One server-sent event of the dialect of Responses: its type is its name, too. */
export const writeEvent = (event: Json & { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Last event of a response by its status. Every other status, also `cancelled`, ends with `response.incomplete`. */
const LAST_EVENTS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
};

const END = Buffer.from('}\n\n');

/** The last event of a stream, by the status and the JSON of its response, with further members where there are any. */
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
