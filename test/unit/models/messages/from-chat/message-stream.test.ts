import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../../src/kernel/limits.ts';
import { messageIdOf, toolIdOf } from '../../../../../src/models/messages/from-chat/chat-words.ts';
import { messageOfCompletion } from '../../../../../src/models/messages/from-chat/message-of-completion.ts';
import { MessageStream } from '../../../../../src/models/messages/from-chat/message-stream.ts';
import { MessageWriter } from '../../../../../src/models/messages/from-chat/message-writer.ts';
import { readArguments } from '../../../../../src/models/messages/from-chat/read-arguments.ts';
import { stopReasonOf } from '../../../../../src/models/messages/from-chat/stop-reason.ts';
import type { TokenUsage } from '../../../../../src/models/providers/chat-rail.ts';
import {
  callEvent,
  deltaEvent,
  finishEvent,
  textEvent,
} from '../../../../support/stream-upstream.ts';

const USED: TokenUsage = { inputTokens: 9, cachedTokens: 0, outputTokens: 3 };
const READING = { spareId: 'spare', wantsThoughts: false };

/** The events of a stream that such chunks make, and what it threw. */
async function read(chunks: readonly string[], usage: TokenUsage | null = USED) {
  const left = chunks.map((chunk) => Buffer.from(chunk));
  let stopped = 0;
  const stream = new MessageStream(
    {
      next: async () => left.shift(),
      stop: () => void stopped++,
      metered: () => ({ usage, answerChars: 8 }),
    },
    READING,
    {
      promptTokens: 5,
      tokensOf: (chars) => ({ inputTokens: 5, cachedTokens: 0, outputTokens: chars }),
    },
  );
  let text = '';
  try {
    for (let piece = await stream.next(); piece; piece = await stream.next()) {
      text += Buffer.from(piece).toString();
    }
  } catch (error) {
    return { text, error, stopped };
  }
  return { text, error: undefined, stopped };
}
const kinds = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind);

describe('a stream of the OpenAI dialect as a message', () => {
  it('begins and ends whatever its upstream leaves out', async () => {
    const { text } = await read([]);
    expect(kinds(text)).toEqual(['message_start', 'message_delta']);
    expect(text).toContain('"id":"msg_spare"');
    expect(text).toContain('"stop_reason":"end_turn"');
  });

  it('tells an estimate of the prompt first, and at the end what was counted, or estimated', async () => {
    const chunks = [textEvent('Good.'), finishEvent('length')];
    const counted = await read(chunks);
    expect(counted.text).toContain('"input_tokens":5');
    expect(counted.text).toContain('"input_tokens":9');
    expect(counted.text).toContain('"stop_reason":"max_tokens"');
    expect((await read(chunks, null)).text).toContain('"output_tokens":8');
  });

  it('passes over what is no JSON, and comments before it has begun', async () => {
    const { text } = await read([':\n\n', 'data: x\n\n', textEvent('a'), ':\n\n', 'data: 7\n\n']);
    expect(kinds(text)).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'ping'],
      ...['content_block_stop', 'message_delta'],
    ]);
  });

  it('breaks where a call goes on behind another, with what came before it', async () => {
    const { error, stopped, text } = await read([
      callEvent(0, { name: 'a', arguments: '{' }, { id: '1' }) +
        callEvent(1, { name: 'b', arguments: '{}' }, { id: '2' }) +
        callEvent(0, { arguments: '}' }),
    ]);
    expect(error).toMatchObject({ name: 'StreamBroken' });
    expect(stopped).toBe(1);
    expect(kinds(text).filter((kind) => kind === 'content_block_start')).toHaveLength(2);
  });

  it('breaks where a call goes on behind words, and where there are too many', async () => {
    const call = callEvent(0, { name: 'a', arguments: '{' }, { id: '1' });
    const interrupted = await read([call, textEvent('so'), callEvent(0, { arguments: '}' })]);
    expect(interrupted.error).toMatchObject({ name: 'StreamBroken' });
    const many = Array.from({ length: LIMITS.toolCallsPerAnswer + 1 }, (_, i) =>
      callEvent(i, { name: 'a', arguments: '{}' }, { id: `c${i}` }),
    );
    expect((await read(many)).error).toMatchObject({ name: 'StreamBroken' });
  });

  it('numbers calls whose upstream does not, and names those without an id', async () => {
    const call = { function: { name: 'a', arguments: '{}' } };
    const { text } = await read([deltaEvent({ tool_calls: [call, call] })]);
    expect(text).toContain('"index":1,"content_block":{"type":"tool_use","id":"toolu_1_1"');
  });
});

describe('a completion as a message', () => {
  const message = (told: object, finish_reason = 'stop') =>
    messageOfCompletion(
      Buffer.from(JSON.stringify({ choices: [{ message: told, finish_reason }] })),
      { spareId: 'spare', wantsThoughts: true, usage: USED },
    );

  it('is none where there is no choice', async () => {
    const body = Buffer.from('{"choices":[]}');
    expect(await messageOfCompletion(body, { ...READING, usage: USED })).toBeUndefined();
  });

  it('has thoughts, a refusal and arguments that are no JSON', async () => {
    expect(await message({ reasoning: 'Hm.', refusal: 'No.' }, 'content_filter')).toMatchObject({
      ...{ id: 'msg_spare', stop_reason: 'refusal' },
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'No.' },
      ],
    });
    const called = { id: '', function: { name: 'a', arguments: '{"b":' } };
    expect(await message({ content: '', tool_calls: [7, called] })).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ id: 'toolu_spare_1', input: { INVALID_JSON: '{"b":' } }],
    });
  });
});

it('ids, arguments and reasons are those of the dialect', () => {
  expect(messageIdOf('chatcmpl-7', 's')).toBe('msg_7');
  expect(messageIdOf(undefined, 's')).toBe('msg_s');
  expect(toolIdOf('call_1', 'msg_7', 0)).toBe('call_1');
  expect(toolIdOf(7, 'msg_7', 2)).toBe('toolu_7_2');
  expect(readArguments('')).toEqual({});
  expect(readArguments('[1]')).toEqual({ INVALID_JSON: '[1]' });
  expect(readArguments('{"a":1}')).toEqual({ a: 1 });
  expect(stopReasonOf('tool_calls', true)).toBe('tool_use');
  expect(stopReasonOf('stop', true)).toBe('tool_use');
  expect(stopReasonOf('length', true)).toBe('max_tokens');
});

it('a writer has one block open at a time', () => {
  const writer = new MessageWriter();
  writer.text('');
  writer.stop();
  expect(writer.taken()).toBe('');
  writer.thoughts('a');
  writer.text('b');
  writer.text('c');
  writer.stop();
  const text = writer.taken();
  expect(kinds(text)).toEqual([
    ...['content_block_start', 'content_block_delta', 'content_block_stop'],
    ...['content_block_start', 'content_block_delta', 'content_block_delta'],
    'content_block_stop',
  ]);
  expect(text.match(/"index":1/g)).toHaveLength(4);
  expect(writer.taken()).toBe('');
});
