import { writeJsonInTurns } from '../../../kernel/json/write-json.ts';
import type { Json } from '../../../kernel/json.ts';
import { joinPieces } from '../../../kernel/long-work.ts';

/** One server-sent event of the dialect of Responses: its type is its name, too. */
export const writeEvent = (event: Json & { readonly type: string }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** How a response ends, by its status; one that was cancelled has no event of its own. */
const LAST_EVENTS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
};

const END = Buffer.from('}\n\n');

/** The last event of a stream, with further members where there are any. One of a long response is written in turns. */
export async function lastEvent(
  response: Json,
  sequenceNumber: number,
  more?: Json,
): Promise<Buffer> {
  const type = LAST_EVENTS[String(response.status)] ?? 'response.incomplete';
  const head = JSON.stringify({ type, sequence_number: sequenceNumber, ...more }).slice(0, -1);
  const begin = Buffer.from(`event: ${type}\ndata: ${head},"response":`);
  return joinPieces([begin, ...(await writeJsonInTurns(response)), END]);
}
