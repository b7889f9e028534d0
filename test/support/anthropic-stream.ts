import { ChatWriter } from '../../src/models/dialects/chat-writer.ts';
import { MessageReader } from '../../src/models/dialects/message-reader.ts';
import { WrittenStream } from '../../src/models/dialects/written-stream.ts';
import { openedAnswer } from './opened-answer.ts';

export type Event = { readonly type: string; readonly [field: string]: unknown };

export const CREATED = 1_735_689_600;

/** As the upstream writes it: the kind of an event stands beside its data and in it. */
export const wire = (events: readonly Event[], end = '\n'): Buffer =>
  Buffer.from(
    events
      .map((event) => `event: ${event.type}${end}data: ${JSON.stringify(event)}${end}${end}`)
      .join(''),
  );

export const start = (usage: object = { input_tokens: 25, output_tokens: 1 }): Event => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage },
});
export const opened = (index: number, content_block: object): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
export const delta = (index: number, change: object): Event => ({
  type: 'content_block_delta',
  index,
  delta: change,
});
export const closed = (index: number): Event => ({ type: 'content_block_stop', index });
export const says = (index: number, text: string): Event =>
  delta(index, { type: 'text_delta', text });
export const writes = (index: number, partial_json: string): Event =>
  delta(index, { type: 'input_json_delta', partial_json });
export const finish = (stop_reason: string, usage: object = { output_tokens: 15 }): Event => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
});
export const stop: Event = { type: 'message_stop' };
export const ping: Event = { type: 'ping' };
export const text = { type: 'text', text: '' };
export const tool = (id: string, name = 'weather', input: object = {}) => ({
  type: 'tool_use',
  id,
  name,
  input,
});

export const GREETING = [
  start(),
  opened(0, text),
  ping,
  says(0, 'Grüß'),
  says(0, ' Gott 👋'),
  closed(0),
  finish('end_turn'),
  stop,
];

/** The answer of an upstream that sends these pieces, as chat. */
export function chatOf(pieces: readonly (Buffer | Error)[]): WrittenStream {
  const writer = new ChatWriter({ createdSec: CREATED, wantsUsage: true });
  return new WrittenStream(new MessageReader(openedAnswer(...pieces).answer), writer);
}

/** Everything that comes out when the pieces go in one after the other, and how it ends. */
export async function runMessages(pieces: readonly Buffer[]) {
  const chat = chatOf(pieces);
  let output = '';
  let failure: string | undefined;
  try {
    for (let piece = await chat.next(); piece; piece = await chat.next()) {
      output += Buffer.from(piece).toString();
    }
  } catch (error) {
    failure = (error as Error).message;
  }
  const { note, ...metered } = chat.metered();
  return { output, chunks: parse(output), failure, metered, note: note?.() };
}

function parse(output: string) {
  const events = output.split('\n\n');
  return events.slice(0, -1).map((event) => JSON.parse(event.replace(/^data: /, '')));
}

export const deltasOf = (chunks: ReturnType<typeof parse>) =>
  chunks.flatMap(({ choices }) => choices.map((choice: { delta: object }) => choice.delta));
