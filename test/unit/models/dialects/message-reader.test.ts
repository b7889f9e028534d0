import { describe, expect, it } from 'vitest';
import { MessageReader } from '../../../../src/models/dialects/message-reader.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import {
  CREATED,
  chatOf,
  closed,
  delta,
  deltasOf,
  type Event,
  finish,
  GREETING,
  opened,
  ping,
  runMessages,
  says,
  start,
  stop,
  text,
  tool,
  wire,
  writes,
} from '../../../support/anthropic-stream.ts';
import { openedAnswer } from '../../../support/opened-answer.ts';

describe('a stream of words', () => {
  it('an Anthropic stream may have events of unknown types before and within its message', async () => {
    const [first, ...rest] = GREETING;
    const unknown = [{ type: 'vendor_info' }, { type: 'content_block_delta.v2', index: 0 }];
    const { failure, output } = await runMessages([
      wire([{ type: 'vendor_info' }, first as Event, ...unknown, ...rest]),
    ]);
    expect(failure).toBeUndefined();
    expect(output).toContain('Gott');
  });

  it.each([10, 70_000])(
    'the whole input of an Anthropic tool call keeps its digits in an event of %i bytes',
    async (bytes) => {
      const event = wire([
        start(),
        opened(0, tool('t', 'f', { id: 7, note: 'x'.repeat(bytes) })),
        closed(0),
        finish('tool_use'),
        stop,
      ]);
      const digits = Buffer.from(event.toString().replace('"id":7', '"id":12345678901234567890'));
      const { output } = await runMessages([digits]);
      expect(output).toContain('12345678901234567890');
    },
  );

  it('an Anthropic text stream becomes chunks of one completion: role, text, finish reason and usage', async () => {
    const { chunks, failure } = await runMessages([wire(GREETING)]);
    const head = {
      id: 'msg_1',
      object: 'chat.completion.chunk',
      created: CREATED,
      model: 'claude',
    };
    const chunk = (change: object, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta: change, logprobs: null, finish_reason }],
    });
    expect(chunks).toEqual([
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ content: 'Grüß' }),
      chunk({ content: ' Gott 👋' }),
      chunk({}, 'stop'),
      {
        ...head,
        choices: [],
        usage: {
          prompt_tokens: 25,
          completion_tokens: 15,
          total_tokens: 40,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      },
    ]);
    expect(failure).toBeUndefined();
  });

  it('an Anthropic stream’s thoughts and unknown events are left out of the chunks', async () => {
    const { chunks, metered } = await runMessages([
      wire([
        start(),
        opened(0, { type: 'thinking', thinking: '' }),
        delta(0, { type: 'thinking_delta', thinking: 'Hmm.' }),
        delta(0, { type: 'signature_delta', signature: 'x' }),
        closed(0),
        { type: 'content_block_praise', index: 9 },
        opened(1, { type: 'text', text: 'Yes' }),
        delta(1, { type: 'citations_delta', citation: {} }),
        closed(1),
        finish('max_tokens'),
        stop,
      ]),
    ]);
    expect(deltasOf(chunks)).toEqual([
      expect.objectContaining({ role: 'assistant' }),
      { content: 'Yes' },
      {},
    ]);
    expect(chunks.at(-2)?.choices[0].finish_reason).toBe('length');
    expect(metered.answerChars).toBe(7);
  });

  it('a finished Anthropic stream yields no more chunks', async () => {
    const whole = await runMessages([wire(GREETING)]);
    expect(await runMessages([wire(GREETING), wire([says(0, 'And')])])).toEqual(whole);
    expect(await runMessages([wire([...GREETING, says(0, 'And')])])).toEqual(whole);
  });

  it('an Anthropic stream’s texts are the same whether a delta is parsed or read from its bytes', async () => {
    const spaced = GREETING.map((event) => `data: ${JSON.stringify(event, null, 1)}`);
    const lines = spaced.map((event) => event.replaceAll('\n', '\ndata: '));
    expect(await runMessages([Buffer.from(`${lines.join('\n\n')}\n\n`)])).toEqual(
      await runMessages([wire(GREETING)]),
    );
  });
});

describe('a stream of tool calls', () => {
  it('an Anthropic stream’s tool calls are numbered from zero, with one name each and streamed arguments', async () => {
    const { chunks } = await runMessages([
      wire([
        start(),
        opened(0, text),
        says(0, 'Let me see.'),
        closed(0),
        opened(1, tool('toolu_a')),
        writes(1, ''),
        writes(1, '{"city":'),
        writes(1, '"Oslo"}'),
        closed(1),
        opened(2, { type: 'server_tool_use', id: 'x', name: 'y', input: {} }),
        writes(2, '{}'),
        closed(2),
        opened(5, tool('toolu_b', 'now')),
        writes(5, ''),
        closed(5),
        opened(6, tool('toolu_c', 'sum', { of: [1, 2] })),
        closed(6),
        finish('tool_use'),
        stop,
      ]),
    ]);
    const call = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    });
    const args = (index: number, words: string) => ({
      tool_calls: [{ index, function: { arguments: words } }],
    });
    expect(deltasOf(chunks).slice(2)).toEqual([
      call(0, 'toolu_a', 'weather'),
      args(0, '{"city":'),
      args(0, '"Oslo"}'),
      call(1, 'toolu_b', 'now'),
      // A client that joins the arguments must be able to parse them.
      args(1, '{}'),
      call(2, 'toolu_c', 'sum'),
      args(2, '{"of":[1,2]}'),
      {},
    ]);
    expect(chunks.at(-2)?.choices[0].finish_reason).toBe('tool_calls');
  });

  it('an Anthropic stream’s interleaved tool calls keep their numbers', async () => {
    const blocks = [
      opened(7, tool('a')),
      opened(3, tool('b')),
      writes(7, '{'),
      writes(3, '['),
      writes(7, '}'),
      closed(7),
      opened(7, tool('c')),
    ];
    const { chunks } = await runMessages([wire([start(), ...blocks, finish('tool_use'), stop])]);
    const calls = deltasOf(chunks).flatMap(({ tool_calls: pieces = [] }) => pieces);
    expect(calls.map(({ index, function: { arguments: words } }) => `${index}${words}`)).toEqual([
      '0',
      '1',
      '0{',
      '1[',
      '0}',
      '2',
    ]);
  });

  it('an Anthropic stream fails at a tool call without an id or a name, with the number of an open call, or beyond the limit', async () => {
    const calls = Array.from({ length: MODEL_LIMITS.chat.toolCalls + 1 }, (_, i) =>
      opened(i, tool(`t${i}`)),
    );
    const failureOf = async (...events: Event[]) =>
      (await runMessages([wire([start(), ...events, finish('tool_use'), stop])])).failure;
    expect(await failureOf(...calls.slice(1))).toBeUndefined();
    const none = { type: 'tool_use', id: 'a', name: 'f', input: {} };
    for (const broken of [
      calls,
      [opened(0, { ...none, id: '' })],
      [opened(0, { ...none, name: undefined })],
      [opened(0, none), opened(0, none)],
    ]) {
      expect(await failureOf(...broken)).toBe('a tool call is none, or one too many');
    }
  });
});

describe('what a stream has come to', () => {
  it('an Anthropic stream’s usage is known from its first event and estimated by length until counted', async () => {
    expect(chatOf([]).metered()).toMatchObject({ usage: null, answerChars: 0 });
    const cached = { cache_read_input_tokens: 100, cache_creation_input_tokens: 7 };
    const chat = chatOf([
      wire([start({ input_tokens: 25, output_tokens: 1, ...cached })]),
      wire([opened(0, text), says(0, 'x'.repeat(4 * 30))]),
      wire([finish('end_turn', { output_tokens: 12, input_tokens: null })]),
    ]);
    const written = { cacheWriteTokens: 7, cacheWriteSurcharge: 1.75 };
    const prompt = { inputTokens: 132, cachedTokens: 100, ...written };
    await chat.next();
    expect(chat.metered().usage).toEqual({ ...prompt, outputTokens: 1 });
    await chat.next();
    expect(chat.metered()).toMatchObject({
      usage: { ...prompt, outputTokens: 120 / MODEL_LIMITS.tokens.charsEach },
      answerChars: 120,
    });
    await chat.next();
    expect(chat.metered().usage).toEqual({ ...prompt, outputTokens: 12 });
  });

  it('an Anthropic stream’s later usage replaces its earlier usage, for billing and for the caller', async () => {
    const anew = { input_tokens: 30, cache_read_input_tokens: 5, output_tokens: 9 };
    const { chunks, metered } = await runMessages([
      wire([start(), finish('end_turn', anew), stop]),
    ]);
    expect(metered.usage).toEqual({ inputTokens: 35, cachedTokens: 5, outputTokens: 9 });
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 35, completion_tokens: 9 });
  });
});

describe('a stream that does not become whole', () => {
  it('an Anthropic stream that ends early fails and keeps what was metered', async () => {
    const { failure, metered, chunks } = await runMessages([wire(GREETING.slice(0, 5))]);
    expect(failure).toBe('it ended before its end');
    expect(metered.usage).toMatchObject({ inputTokens: 25 });
    expect(deltasOf(chunks)).toHaveLength(3);
    expect((await runMessages([])).failure).toBe('it ended before its end');
  });

  it('an Anthropic stream is whole when only its message_stop is missing', async () => {
    const whole = await runMessages([wire(GREETING)]);
    expect(await runMessages([wire(GREETING.slice(0, -1))])).toEqual(whole);
    const half = Buffer.concat([wire(GREETING.slice(0, -1)), Buffer.from('event: message_st')]);
    expect(await runMessages([half])).toEqual(whole);
  });

  it('an Anthropic stream fails at an error event of the upstream', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const { failure, chunks } = await runMessages([wire([start(), error, ...GREETING.slice(1)])]);
    expect(failure).toBe('it reported overloaded_error');
    expect(chunks).toHaveLength(1);
    expect((await runMessages([wire([error])])).failure).toBe(failure);
  });

  it('an Anthropic stream that breaks before its message is stopped, and one that breaks later tells its events first', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const early = openedAnswer(wire([ping]), wire([error]));
    await expect(new MessageReader(early.answer).begin()).rejects.toThrow('overloaded_error');
    expect(early.told.stops).toBe(1);
    await expect(new MessageReader(openedAnswer().answer).begin()).rejects.toThrow('its end');
    const late = openedAnswer(wire([ping]), wire([start(), says(0, 'a'), error]));
    const reader = new MessageReader(late.answer);
    await reader.begin();
    const kinds: string[] = [];
    const read = reader.read(({ kind }) => kinds.push(kind));
    await expect(read).rejects.toThrow('overloaded_error');
    expect(kinds).toEqual(['begin', 'text']);
  });

  it('an Anthropic stream fails at events that are no message stream', async () => {
    const broken = [
      wire([says(0, 'Hi')]),
      wire([start(), start()]),
      wire([start(), stop]),
      Buffer.from('data: {"type": \n\n'),
      Buffer.from('data: [DONE]\n\n'),
      Buffer.from('data: 7\n\n'),
    ];
    for (const bytes of broken) {
      expect((await runMessages([bytes, wire(GREETING)])).failure).toEqual(expect.any(String));
    }
  });

  it('an Anthropic stream fails at an event above the size limit, wherever its pieces end', async () => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    const count = Math.ceil(MODEL_LIMITS.upstream.sseEventBytes / piece.length) + 1;
    const pieces = [wire([start()]), Buffer.from('data: '), ...Array(count).fill(piece)];
    const { failure, metered } = await runMessages(pieces);
    expect(failure).toBe('an event is too large');
    expect(metered.usage).toMatchObject({ inputTokens: 25 });
  });
});
