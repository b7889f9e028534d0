import type { ChatStream } from '../../src/models/providers/chat-rail.ts';
import type { ResponseEvents } from '../../src/models/providers/responses/responses-rail.ts';
import { headOf } from '../../src/models/responses/response-head.ts';

/** A chat stream of these events; what it tells of its usage is told from the start. */
export function chatStreamOf(
  pieces: readonly string[],
  { answerChars = 0, usage = null }: Partial<ReturnType<ChatStream['metered']>> = {},
): ChatStream {
  const left = [...pieces];
  return {
    async next() {
      const piece = left.shift();
      return piece === undefined ? undefined : Buffer.from(piece);
    },
    metered: () => ({ usage, answerChars }),
    stop() {
      left.length = 0;
    },
  };
}

export type Event = Record<string, unknown> & {
  readonly type: string;
  readonly sequence_number: number;
};

/** The events in the bytes of a stream of responses; throws where an event's name is not its type. */
function readEvents(bytes: Uint8Array | string): Event[] {
  const text = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8');
  return text.split('\n\n').flatMap((event) => {
    const lines = event.split('\n');
    const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
    if (data.length === 0) return [];
    const read = JSON.parse(data.join('\n')) as Event;
    if (!lines.includes(`event: ${read.type}`)) throw new Error(`an event without name: ${event}`);
    return [read];
  });
}

/** All events of a stream, but its last. Those of one that breaks are in `events`. */
export async function eventsOf(stream: ResponseEvents, events: Event[] = []): Promise<Event[]> {
  for (let piece = await stream.next(); piece; piece = await stream.next()) {
    events.push(...readEvents(piece));
  }
  return events;
}

/** The head of a response whose request says nothing but its model. */
export const BARE_HEAD = headOf({ model: 'm' }, { id: 'resp_1', createdSec: 1, isKept: false });
