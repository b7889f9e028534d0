import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readChat } from '../../../../src/models/dialects/chat-reader.ts';
import { MessageBlocks } from '../../../../src/models/dialects/message-blocks.ts';
import { MessageWriter } from '../../../../src/models/dialects/message-writer.ts';
import { WrittenStream } from '../../../../src/models/dialects/written-stream.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { messageIdOf, toolIdOf } from '../../../../src/models/messages/from-chat/chat-words.ts';
import { messageOfCompletion } from '../../../../src/models/messages/from-chat/message-of-completion.ts';
import { readArguments } from '../../../../src/models/messages/from-chat/read-arguments.ts';
import { stopReasonOf } from '../../../../src/models/messages/from-chat/stop-reason.ts';
import type { TokenUsage } from '../../../../src/models/providers/chat-rail.ts';
import { callEvent, deltaEvent, finishEvent, textEvent } from '../../../support/stream-upstream.ts';

const USED: TokenUsage = { inputTokens: 9, cachedTokens: 0, outputTokens: 3 };
const READING = { spareId: 'spare', wantsThoughts: false };

/** The events of a stream that such chunks make, and what it threw. */
async function read(
  chunks: readonly string[],
  usage: TokenUsage | null = USED,
  signs: Parameters<typeof readChat>[1] = {},
) {
  const left = chunks.map((chunk) => Buffer.from(chunk));
  let stopped = 0;
  const chat = {
    next: async () => left.shift(),
    stop: () => void stopped++,
    metered: () => ({ usage, answerChars: 8 }),
  };
  const writer = new MessageWriter(READING, {
    promptTokens: 5,
    tokensOf: (chars) => ({ inputTokens: 5, cachedTokens: 0, outputTokens: chars }),
  });
  const stream = new WrittenStream(readChat(chat, signs), writer);
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
/** The calls that events make: id, name and arguments. Each block ends before the next begins. */
function callsIn(text: string): string[] {
  const calls: string[] = [];
  let open: number | undefined;
  for (const [, json = ''] of text.matchAll(/^data: (.*)$/gm)) {
    const { content_block: block, delta, index, type } = JSON.parse(json);
    if (type === 'content_block_start') {
      expect(open).toBeUndefined();
      open = index;
      if (block.type === 'tool_use') calls.push(`${block.id} ${block.name} `);
    } else if (type.startsWith('content_block')) expect(index).toBe(open);
    if (type === 'content_block_stop') open = undefined;
    if (delta?.type === 'input_json_delta') calls.push(calls.pop() + delta.partial_json);
  }
  return calls;
}
const kinds = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind);

describe('a stream of the OpenAI dialect as a message', () => {
  it('a chat stream translated to Messages keeps the signature that follows a thought which is not told', async () => {
    const extra_content = { google: { thought_signature: 'S' } };
    const chunks = [
      callEvent(0, { name: 'f', arguments: '' }, { id: 'c' }),
      deltaEvent({ reasoning_content: 'hm' }),
      callEvent(0, { arguments: '{}' }, { extra_content }),
      finishEvent('tool_calls'),
    ];
    const { text } = await read(chunks, USED, { signsCalls: true });
    expect(callsIn(text)).toEqual([expect.stringMatching(/_sig1-.* f \{\}$/)]);
  });

  it('a chat stream translated to Messages begins and ends even when the upstream sends nothing', async () => {
    const { text } = await read([]);
    expect(kinds(text)).toEqual(['message_start', 'message_delta']);
    expect(text).toContain('"id":"msg_spare"');
    expect(text).toContain('"stop_reason":"end_turn"');
  });

  it('a chat stream translated to Messages has an estimate of the prompt first and the metered usage at its end', async () => {
    const chunks = [textEvent('Good.'), finishEvent('length')];
    const counted = await read(chunks);
    expect(counted.text).toContain('"input_tokens":5');
    expect(counted.text).toContain('"input_tokens":9');
    expect(counted.text).toContain('"stop_reason":"max_tokens"');
    expect((await read(chunks, null)).text).toContain('"output_tokens":8');
  });

  it('a chat stream translated to Messages skips invalid JSON, and comments before its first event', async () => {
    const { text } = await read([':\n\n', 'data: x\n\n', textEvent('a'), ':\n\n', 'data: 7\n\n']);
    expect(kinds(text)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'ping',
      'content_block_stop',
      'message_delta',
    ]);
  });

  it('a chat stream translated to Messages serializes parallel tool calls', async () => {
    const chunks = [
      callEvent(0, { name: 'a', arguments: '{"x"' }, { id: '1' }),
      callEvent(1, { name: 'b', arguments: '{"y":"}' }, { id: '2' }),
      callEvent(2, { name: 'c' }, { id: '3' }),
      callEvent(0, { arguments: ':1}' }),
      callEvent(1, { arguments: '"}' }),
      callEvent(0, { arguments: '' }),
      callEvent(2, { arguments: '{}' }),
      finishEvent('tool_calls'),
    ];
    const { error, text } = await read(chunks);
    expect(error).toBeUndefined();
    expect(callsIn(text)).toEqual(['1 a {"x":1}', '2 b {"y":"}"}', '3 c {}']);
    // The second begins as soon as the first is whole.
    const begun = (await read(chunks.slice(0, 4))).text;
    expect(begun.indexOf('"name":"b"')).toBeGreaterThan(begun.indexOf(':1}'));
    expect(callsIn((await read(chunks.slice(0, 3))).text)).toEqual([
      '1 a {"x"',
      '2 b {"y":"}',
      '3 c ',
    ]);
  });

  it('a chat stream translated to Messages has the same tool calls in whatever order their pieces arrive', async () => {
    const args = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }).map((value) => {
      const text = JSON.stringify(value);
      return [text.slice(0, text.length / 2), text.slice(text.length / 2)];
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(args, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(3), { maxLength: 12 }),
        async (calls, turns) => {
          const heads = calls.map((_, at) => callEvent(at, { name: 'a' }, { id: `${at}` }));
          const left = calls.map((pieces) => [...pieces]);
          const mixed = [...turns, ...calls.flatMap((_, at) => [at, at])].flatMap((at) => {
            const text = left[at]?.shift();
            return text === undefined ? [] : [callEvent(at, { arguments: text })];
          });
          const { error, text } = await read([...heads, ...mixed]);
          expect(error).toBeUndefined();
          expect(callsIn(text)).toEqual(calls.map((pieces, at) => `${at} a ${pieces.join('')}`));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('a chat stream translated to Messages breaks when the held pieces of parallel tool calls exceed the limit', async () => {
    const part = 'x'.repeat(MODEL_LIMITS.chat.heldCallChars / 4);
    const { error, stopped } = await read([
      callEvent(0, { name: 'a', arguments: '{' }, { id: '1' }),
      callEvent(1, { name: 'b', arguments: '' }, { id: '2' }),
      ...Array.from({ length: 5 }, () => callEvent(1, { arguments: part })),
    ]);
    expect([error, stopped]).toMatchObject([{ name: 'StreamBroken' }, 1]);
  });

  it('a chat stream translated to Messages breaks when a finished tool call continues, after relaying what came before', async () => {
    const { error, stopped, text } = await read([
      callEvent(0, { name: 'a', arguments: '{}' }, { id: '1' }) +
        callEvent(1, { name: 'b', arguments: '{}' }, { id: '2' }) +
        callEvent(0, { arguments: ' ' }) +
        callEvent(0, { arguments: '}' }),
    ]);
    expect(error).toMatchObject({ name: 'StreamBroken' });
    expect(stopped).toBe(1);
    expect(callsIn(text)).toEqual(['1 a {}', '2 b {}']);
  });

  it('a chat stream translated to Messages tells tool calls apart by their ids, else by their names', async () => {
    const whole = (id: string, index?: number) =>
      deltaEvent({
        tool_calls: [{ index, id, function: { name: 'a', arguments: `{"of":"${id}"}` } }],
      });
    const twice = ['x {"of":"x"}', 'y {"of":"y"}'];
    const named = (calls: string[]) => calls.map((call) => call.replace(' a', ''));
    expect(named(callsIn((await read([whole('x', 0), whole('y', 0)])).text))).toEqual(twice);
    expect(named(callsIn((await read([whole('x'), whole('y')])).text))).toEqual(twice);
    const piece = (id: string, text: string) =>
      callEvent(0, { name: 'a', arguments: text }, { id });
    const mixed = [piece('x', '{'), piece('y', '{'), piece('x', '}'), piece('y', '}')];
    expect(callsIn((await read(mixed)).text)).toEqual(['x a {}', 'y a {}']);
    for (const index of [0, undefined]) {
      const { text } = await read([whole('', index), whole('', index)]);
      expect(callsIn(text)).toEqual(['toolu_1_0 a {"of":""}', 'toolu_1_1 a {"of":""}']);
    }
  });

  it('a chat stream translated to Messages continues a tool call whose pieces lack numbers or repeat id and name', async () => {
    const piece = (more: object, text: string, named: object = {}) =>
      deltaEvent({ tool_calls: [{ ...more, function: { ...named, arguments: text } }] });
    const without = [piece({ id: 'x' }, '{"a"', { name: 'a' }), piece({}, ':1}'), piece({}, '')];
    expect(callsIn((await read(without)).text)).toEqual(['x a {"a":1}']);
    for (const more of [{ index: 0, id: 'x' }, { id: 'x' }]) {
      const again = ['{"a"', ':1}', ''].map((text) => piece(more, text, { name: 'a' }));
      expect(callsIn((await read(again)).text)).toEqual(['x a {"a":1}']);
    }
    const { error, text } = await read([piece({}, ''), textEvent('so'), piece({ index: 0 }, '')]);
    expect([error, callsIn(text)]).toEqual([undefined, []]);
  });

  it('a chat stream translated to Messages accepts content as parts and arguments as an object', async () => {
    const content = [{ type: 'text', text: 'Good ' }, 7, { type: 'text', text: 'day.' }];
    const call = { index: 0, id: 'x', function: { name: 'a', arguments: { b: 1 } } };
    const { text } = await read([deltaEvent({ content }), deltaEvent({ tool_calls: [call] })]);
    expect(text).toContain('"text":"Good day."');
    expect(callsIn(text)).toEqual(['x a {"b":1}']);
  });

  it('a chat stream translated to Messages breaks on a tool call that text interrupts, and on too many calls', async () => {
    const call = callEvent(0, { name: 'a', arguments: '{' }, { id: '1' });
    const interrupted = await read([call, textEvent('so'), callEvent(0, { arguments: '}' })]);
    expect(interrupted.error).toMatchObject({ name: 'StreamBroken' });
    const many = Array.from({ length: MODEL_LIMITS.chat.toolCalls + 1 }, (_, i) =>
      callEvent(i, { name: 'a', arguments: '{}' }, { id: `c${i}` }),
    );
    expect((await read(many)).error).toMatchObject({ name: 'StreamBroken' });
  });

  it('a chat stream translated to Messages numbers unnumbered tool calls and gives them ids', async () => {
    const call = { function: { name: 'a', arguments: '{}' } };
    const { text } = await read([deltaEvent({ tool_calls: [call, call] })]);
    expect(text).toContain('"index":1,"content_block":{"type":"tool_use","id":"toolu_1_1"');
  });
});

describe('a completion as a message', () => {
  const message = (told: object, finish_reason = 'stop') =>
    messageOfCompletion(
      { body: Buffer.from(JSON.stringify({ choices: [{ message: told, finish_reason }] })) },
      { spareId: 'spare', wantsThoughts: true },
      USED,
    );

  it('a completion without a choice becomes no message', async () => {
    const body = Buffer.from('{"choices":[]}');
    expect(await messageOfCompletion({ body }, READING, USED)).toBeUndefined();
  });

  it('a completion’s thoughts, refusal and invalid tool arguments are translated to a message', async () => {
    expect(await message({ reasoning: 'Hm.', refusal: 'No.' }, 'content_filter')).toMatchObject({
      id: 'msg_spare',
      stop_reason: 'refusal',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'No.' },
      ],
    });
    const parts = [
      { type: 'text', text: 'Good ' },
      { type: 'text', text: 'day.' },
    ];
    const given = { id: 'x', function: { name: 'a', arguments: { b: 1 } } };
    expect(await message({ content: parts, tool_calls: [given] })).toMatchObject({
      content: [
        { type: 'text', text: 'Good day.' },
        { type: 'tool_use', id: 'x', input: { b: 1 } },
      ],
    });
    const called = { id: '', function: { name: 'a', arguments: '{"b":' } };
    expect(await message({ content: '', tool_calls: [7, called] })).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ id: 'toolu_spare_1', input: { INVALID_JSON: '{"b":' } }],
    });
  });
});

it('a completion’s ids, arguments and finish reasons become those of the Messages dialect', async () => {
  expect(messageIdOf('chatcmpl-7', 's')).toBe('msg_7');
  expect(messageIdOf(undefined, 's')).toBe('msg_s');
  expect(toolIdOf('call_1', 'msg_7', 0)).toBe('call_1');
  expect(toolIdOf(7, 'msg_7', 2)).toBe('toolu_7_2');
  expect(await readArguments('')).toEqual({});
  expect(await readArguments('[1]')).toEqual({ INVALID_JSON: '[1]' });
  expect(await readArguments('{"a":1}')).toEqual({ a: 1 });
  expect(stopReasonOf('tool_calls', true)).toBe('tool_use');
  expect(stopReasonOf('stop', true)).toBe('tool_use');
  expect(stopReasonOf('length', true)).toBe('max_tokens');
});

it('the Messages stream writer has one block open at a time', () => {
  const writer = new MessageBlocks();
  writer.text('');
  writer.stop();
  expect(writer.take()).toBe('');
  writer.thoughts('a');
  writer.text('b');
  writer.text('c');
  writer.stop();
  const text = writer.take();
  expect(kinds(text)).toEqual([
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
  ]);
  expect(text.match(/"index":1/g)).toHaveLength(4);
  expect(writer.take()).toBe('');
});
