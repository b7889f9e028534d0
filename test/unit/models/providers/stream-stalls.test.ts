import { describe, expect, it } from 'vitest';
import { PriceInChatStream } from '../../../../src/models/chat/price-in-chat-stream.ts';
import type { AnswerSource } from '../../../../src/models/dialects/answer-event.ts';
import { readChat } from '../../../../src/models/dialects/chat-reader.ts';
import { ChatWriter } from '../../../../src/models/dialects/chat-writer.ts';
import { MessageReader } from '../../../../src/models/dialects/message-reader.ts';
import { MessageWriter } from '../../../../src/models/dialects/message-writer.ts';
import { ResponseReader } from '../../../../src/models/dialects/response-reader.ts';
import { WrittenStream } from '../../../../src/models/dialects/written-stream.ts';
import { PriceInMessageStream } from '../../../../src/models/messages/price-in-message-stream.ts';
import { RelayedMessageStream } from '../../../../src/models/providers/anthropic/relayed-message-stream.ts';
import { StreamBroken } from '../../../../src/models/providers/openai/answer-reader.ts';
import { RelayedChat } from '../../../../src/models/providers/openai/chat-stream.ts';
import { RelayedResponse } from '../../../../src/models/providers/responses/relayed-response.ts';
import { TranslatedResponse } from '../../../../src/models/responses/translate/translated-response.ts';
import { BARE_HEAD } from '../../../support/chat-answer.ts';
import { usualStallMs } from '../../../support/longest-stall.ts';
import { openedAnswer } from '../../../support/opened-answer.ts';

const MOST_STALL_MS = 50;
const EVENT_BYTES = 2_000_000;
const PIECE_BYTES = 65_536;
/** Of those that wait for a slow reader. */
const WAITING_BYTES = 1_000_000;

type Stream = { next(): Promise<Uint8Array | undefined> };

/** Cut once for all readers: the time for that is none of theirs. */
const cut = new Map<string, readonly Buffer[]>();

function piecesOf(text: string): readonly Buffer[] {
  const known = cut.get(text);
  if (known !== undefined) return known;
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) =>
    bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES),
  );
  cut.set(text, pieces);
  return pieces;
}

/** Pieces that have all come before the first one is read. */
const answerOf = (text: string) => openedAnswer(...piecesOf(text)).answer;
const chat = (text: string) =>
  new RelayedChat(answerOf(text), { servedAs: 'acme/chat', wantsUsage: true });
const tokensOf = (outputTokens: number) => ({ inputTokens: 1, cachedTokens: 0, outputTokens });
const response = (text: string) => new RelayedResponse(answerOf(text), (given) => given);
const messageWriter = () =>
  new MessageWriter({ wantsThoughts: true, spareId: 'msg_1' }, { promptTokens: 1, tokensOf });

const asResponse = (source: AnswerSource) =>
  new TranslatedResponse(source, {
    head: BARE_HEAD,
    model: 'm',
    names: new Map(),
    newItemId: (prefix) => `${prefix}1`,
    estimate: tokensOf,
  });

const READERS: Readonly<Record<string, (text: string) => Stream | Promise<Stream>>> = {
  'a chat': chat,
  'a chat with its price': (text) => new PriceInChatStream(chat(text)),
  'a chat as a message': (text) => new WrittenStream(readChat(chat(text)), messageWriter()),
  'a chat as a response': (text) => asResponse(readChat(chat(text))),
  'a message': (text) =>
    new PriceInMessageStream(new RelayedMessageStream(answerOf(text), 'acme/claude')),
  'a message as a chat': (text) =>
    new WrittenStream(
      new MessageReader(answerOf(text)),
      new ChatWriter({ createdSec: 1, servedAs: 'acme/claude', wantsUsage: true }),
    ),
  'a message as a response': (text) => asResponse(new MessageReader(answerOf(text))),
  'a response': response,
  'a response as a message': (text) =>
    new WrittenStream(new ResponseReader(response(text)), messageWriter()),
};

const fill = (part: string, bytes: number) => part.repeat(bytes / part.length);
const event = (data: string) => `data: ${data}\n\n`;
const members = Array.from({ length: 99_000 }, (_, i) => `"k${i}":1`).join(',');
const START = event('{"type":"message_start","message":{"usage":{"input_tokens":5}}}');
const chunk = (delta: string) =>
  event(`{"choices":[{"delta":${delta}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`);

const CALL = event(
  '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x","name":"n","input":{}}}',
);
const LONG_ARGUMENTS = event(
  `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"${fill('\\"', 1_900_000)}"}}`,
);

/** What an upstream may send in one event, or in those that wait together. */
const ATTACKS: Readonly<Record<string, string>> = {
  'data in 330,000 lines': `${fill('data:\n', EVENT_BYTES)}\n`,
  'an event of carriage returns': `data: {}${fill('\r', EVENT_BYTES)}\n\n`,
  'lists of parts that are empty': chunk(`{${fill('"content":[],', EVENT_BYTES)}"x":1}`),
  'parts of one letter': chunk(`{"content":[${fill('{"text":"x"},', EVENT_BYTES)}1]}`),
  'a delta of 99,000 members': chunk(`{${members}}`),
  'arguments of 99,000 members': chunk(`{"tool_calls":[{"function":{"arguments":{${members}}}}]}`),
  'a message’s end of 99,000 members': `${START}${event(
    `{"type":"message_delta","delta":{${members}},"usage":{"output_tokens":1}}`,
  )}`,
  'a call of 99,000 members': `${START}${event(
    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"x","name":"n","input":{${members}}}}`,
  )}`,
  'a response of 99,000 members': event(
    `{"type":"response.in_progress","response":{"output":[{${members}}]}}`,
  ),
  '330,000 comments': START + fill(':\n\n', WAITING_BYTES),
  '125,000 events that are no JSON': fill('data:x\n\n', WAITING_BYTES),
  'two deltas of 1.9 MB of arguments': START + CALL + LONG_ARGUMENTS + LONG_ARGUMENTS,
  'pings that wait': START + fill(event('{"type":"ping"}'), WAITING_BYTES),
  'deltas that wait': fill(event('{"choices":[{"delta":{"content":"x"}}]}'), WAITING_BYTES),
};

const CHAT = chunk('{"content":"a word"}') + event('[DONE]');
const MESSAGE =
  START +
  event('{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a word"}}') +
  event('{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}') +
  event('{"type":"message_stop"}');
const RESPONSE =
  event('{"type":"response.output_text.delta","delta":"a word"}') +
  event('{"type":"response.completed","response":{"status":"completed","output":[]}}');

/** A whole stream that each reader understands. */
const OWN: Readonly<Record<keyof typeof READERS, string>> = {
  'a chat': CHAT,
  'a chat with its price': CHAT,
  'a chat as a message': CHAT,
  'a chat as a response': CHAT,
  'a message': MESSAGE,
  'a message as a chat': MESSAGE,
  'a message as a response': MESSAGE,
  'a response': RESPONSE,
  'a response as a message': RESPONSE,
};

type Make = (text: string) => Stream | Promise<Stream>;

async function readAll(make: Make, text: string): Promise<string> {
  const stream = await make(text);
  let read = '';
  for (let piece = await stream.next(); piece !== undefined; piece = await stream.next()) {
    read += Buffer.from(piece).toString();
  }
  return read;
}

/** Most of these streams break, each where it has to. */
async function readAttack(make: Make, text: string): Promise<void> {
  try {
    await readAll(make, text);
  } catch (error) {
    if (!(error instanceof StreamBroken)) throw error;
  }
}

describe.each(Object.entries(READERS))('the reader of %s', (name, make) => {
  it('an upstream stream reader reads a stream of its own dialect', async () => {
    expect(await readAll(make, OWN[name] ?? '')).toContain('a word');
  });

  it.each(Object.entries(ATTACKS))(
    'an upstream stream reader does not block the event loop on %s',
    async (_, text) => {
      piecesOf(text);
      const stallMs = await usualStallMs(MOST_STALL_MS, () => readAttack(make, text));
      expect(stallMs).toBeLessThan(MOST_STALL_MS);
    },
  );
});
