import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../../src/kernel/limits.ts';
import { jsonOf } from '../../../../../src/models/providers/anthropic/read-json.ts';
import { StreamTranslator } from '../../../../../src/models/providers/anthropic/translate-stream.ts';
import { dataOf } from '../../../../../src/models/providers/openai/data-lines.ts';

type Event = { readonly type: string; readonly [field: string]: unknown };

const CREATED = 1_735_689_600;

/** As the upstream writes it: the kind of an event stands beside its data and in it. */
const wire = (events: readonly Event[], end = '\n'): Buffer =>
  Buffer.from(
    events
      .map((event) => `event: ${event.type}${end}data: ${JSON.stringify(event)}${end}${end}`)
      .join(''),
  );

const start = (usage: object = { input_tokens: 25, output_tokens: 1 }): Event => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], usage },
});
const opened = (index: number, content_block: object): Event => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, change: object): Event => ({
  type: 'content_block_delta',
  index,
  delta: change,
});
const closed = (index: number): Event => ({ type: 'content_block_stop', index });
const says = (index: number, text: string): Event => delta(index, { type: 'text_delta', text });
const writes = (index: number, partial_json: string): Event =>
  delta(index, { type: 'input_json_delta', partial_json });
const finish = (stop_reason: string, usage: object = { output_tokens: 15 }): Event => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const stop: Event = { type: 'message_stop' };
const ping: Event = { type: 'ping' };
const text = { type: 'text', text: '' };
const tool = (id: string, name = 'weather', input: object = {}) => ({
  type: 'tool_use',
  id,
  name,
  input,
});

const GREETING = [
  start(),
  opened(0, text),
  ping,
  says(0, 'Grüß'),
  says(0, ' Gott 👋'),
  closed(0),
  finish('end_turn'),
  stop,
];

/** The chunks that a piece completes. */
const push = (translator: StreamTranslator, piece: Buffer): string =>
  translator
    .push(piece)
    .flatMap((event) => dataOf(event) ?? [])
    .map((data) => translator.translate(jsonOf(data)))
    .join('');

/** Everything that comes out when the pieces go in one after the other, and the state after them. */
function run(pieces: readonly Buffer[], ends = true) {
  const translator = new StreamTranslator(CREATED);
  const written = pieces.map((piece) => push(translator, piece));
  if (ends) written.push(translator.end());
  const output = written.join('');
  const { state } = translator;
  const failure = translator.failure?.message;
  const { note, ...metered } = translator.metered();
  return { output, chunks: parse(output), state, failure, metered, note: note?.() };
}

function parse(output: string) {
  const events = output.split('\n\n');
  expect(events.pop()).toBe('');
  return events.map((event) => {
    expect(event.startsWith('data: ')).toBe(true);
    return JSON.parse(event.slice(6));
  });
}

const deltasOf = (chunks: ReturnType<typeof parse>) =>
  chunks.flatMap(({ choices }) => choices.map((choice: { delta: object }) => choice.delta));

/** Cuts bytes at the given places, which may be anywhere. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...at, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : at[i - 1], end));
}

describe('a stream of words', () => {
  it('an Anthropic text stream becomes chunks of one completion: role, text, finish reason and usage', () => {
    const { chunks, state } = run([wire(GREETING)]);
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
    expect(state).toBe('finished');
  });

  it('an Anthropic stream’s thoughts and unknown events are left out of the chunks', () => {
    const { chunks, metered } = run([
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

  it('a finished Anthropic stream yields no more chunks', () => {
    const translator = new StreamTranslator(CREATED);
    push(translator, wire(GREETING));
    expect(push(translator, wire([says(0, 'And')])).length).toBe(0);
    expect(translator.end().length).toBe(0);
    expect(translator.state).toBe('finished');
  });
});

describe('a stream of tool calls', () => {
  it('an Anthropic stream’s tool calls are numbered from zero, with one name each and streamed arguments', () => {
    const { chunks } = run([
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

  it('an Anthropic stream fails when its tool calls exceed the limit', () => {
    const calls = Array.from({ length: LIMITS.toolCallsPerAnswer + 1 }, (_, i) =>
      opened(i, tool(`t${i}`)),
    );
    const within = run([wire([start(), ...calls.slice(1)])], false);
    expect(within.state).toBe('open');
    expect(run([wire([start(), ...calls])], false).state).toBe('failed');
  });
});

describe('what a stream has come to', () => {
  it('an Anthropic stream’s usage is known from its first event and estimated by length until counted', () => {
    const translator = new StreamTranslator(CREATED);
    expect(translator.metered()).toMatchObject({ usage: null, answerChars: 0 });
    const cached = { cache_read_input_tokens: 100, cache_creation_input_tokens: 7 };
    push(translator, wire([start({ input_tokens: 25, output_tokens: 1, ...cached })]));
    const written = { cacheWriteTokens: 7, cacheWriteSurcharge: 1.75 };
    const prompt = { inputTokens: 132, cachedTokens: 100, ...written };
    expect(translator.metered().usage).toEqual({ ...prompt, outputTokens: 1 });
    push(translator, wire([opened(0, text), says(0, 'x'.repeat(4 * 30))]));
    expect(translator.metered()).toMatchObject({
      usage: { ...prompt, outputTokens: 120 / LIMITS.charsPerToken },
      answerChars: 120,
    });
    push(translator, wire([finish('end_turn', { output_tokens: 12, input_tokens: null })]));
    expect(translator.metered().usage).toEqual({ ...prompt, outputTokens: 12 });
  });

  it('an Anthropic stream’s later usage replaces its earlier usage, for billing and for the caller', () => {
    const anew = { input_tokens: 30, cache_read_input_tokens: 5, output_tokens: 9 };
    const { chunks, metered } = run([wire([start(), finish('end_turn', anew), stop])]);
    expect(metered.usage).toEqual({ inputTokens: 35, cachedTokens: 5, outputTokens: 9 });
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 35, completion_tokens: 9 });
  });
});

describe('a stream that does not become whole', () => {
  it('an Anthropic stream that ends early fails and keeps what was metered', () => {
    const { state, failure, metered, chunks } = run([wire(GREETING.slice(0, 5))]);
    expect(state).toBe('failed');
    expect(failure).toBe('it ended before its end');
    expect(metered.usage).toMatchObject({ inputTokens: 25 });
    expect(deltasOf(chunks)).toHaveLength(3);
    expect(run([]).state).toBe('failed');
  });

  it('an Anthropic stream is whole when only its message_stop is missing', () => {
    const whole = run([wire(GREETING)]);
    expect(run([wire(GREETING.slice(0, -1))])).toEqual(whole);
    const half = Buffer.concat([wire(GREETING.slice(0, -1)), Buffer.from('event: message_st')]);
    expect(run([half])).toEqual(whole);
  });

  it('an Anthropic stream fails at an error event of the upstream', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const { state, failure, chunks } = run([wire([start(), error, ...GREETING.slice(1)])]);
    expect([state, failure]).toEqual(['failed', 'it reported overloaded_error']);
    expect(chunks).toHaveLength(1);
    expect(run([wire([error])]).state).toBe('failed');
  });

  it('an Anthropic stream fails at events that are no message stream', () => {
    const broken = [
      wire([says(0, 'Hi')]),
      wire([start(), start()]),
      wire([start(), stop]),
      wire([start(), opened(0, { type: 'tool_use' })]),
      Buffer.from('data: {"type": \n\n'),
      Buffer.from('data: [DONE]\n\n'),
      Buffer.from('data: 7\n\n'),
    ];
    for (const bytes of broken) expect(run([bytes], false).state).toBe('failed');
  });

  it('an Anthropic stream fails at an event above the size limit, wherever its pieces end', () => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    const translator = new StreamTranslator(CREATED);
    push(translator, wire([start()]));
    push(translator, Buffer.from('data: '));
    for (let sent = 0; sent <= LIMITS.sseEventBytes; sent += piece.length) push(translator, piece);
    expect([translator.state, translator.failure?.message]).toEqual([
      'failed',
      'an event is too large',
    ]);
    expect(translator.metered().usage).toMatchObject({ inputTokens: 25 });
  });
});

describe('the pieces of a stream', () => {
  const event = fc.oneof(
    fc.string({ unit: 'grapheme' }).map((words) => says(0, words)),
    fc.string({ unit: 'binary' }).map((words) => writes(1, words)),
    fc.constantFrom(ping, opened(0, text), opened(1, tool('a')), closed(1), finish('end_turn')),
    fc.constantFrom<Event>(stop, start(), { type: 'error', error: {} }),
  );
  const stream = fc.record({
    events: fc.oneof(
      fc.constant(GREETING),
      fc.array(event).map((more) => [start(), ...more]),
    ),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    comment: fc.constantFrom('', ': keep-alive\n\n', ':\r\n\r\n', 'retry: 3\nid: 7\n\n', '\n'),
    places: fc.array(fc.nat(), { maxLength: 40 }),
  });

  it('an Anthropic stream reads the same wherever its pieces are cut', () => {
    fc.assert(
      fc.property(stream, ({ events, lineEnd, comment, places }) => {
        const bytes = Buffer.concat(
          events.flatMap((one) => [Buffer.from(comment), wire([one], lineEnd)]),
        );
        const whole = run([bytes]);
        expect(run(cut(bytes, places))).toEqual(whole);
        expect(whole).toEqual(run([wire(events)]));
      }),
    );
  });

  it('an Anthropic stream may write events in any form of the event stream format', () => {
    const spelled = Buffer.from(
      GREETING.map((one) => {
        const rest = JSON.stringify(one).slice(1);
        return `:c\ndata:{\nid: 1\ndata: ${rest}\nevent: x\n\n`;
      }).join(''),
    );
    expect(run([spelled])).toEqual(run([wire(GREETING)]));
  });

  it('an Anthropic stream may arrive in pieces of one byte', () => {
    for (const lineEnd of ['\n', '\r\n']) {
      const bytes = wire(GREETING, lineEnd);
      const single = Array.from(bytes, (byte) => Buffer.of(byte));
      expect(run(single)).toEqual(run([wire(GREETING)]));
    }
  });

  it('an Anthropic stream never throws, whatever bytes arrive', () => {
    const line = fc.oneof(
      fc.json().map((json) => `data: ${json}`),
      fc.string(),
      fc.constant(''),
    );
    fc.assert(
      fc.property(fc.array(line), fc.boolean(), (lines, begun) => {
        const bytes = Buffer.from(lines.join('\n'));
        const { state } = run(begun ? [wire([start()]), bytes] : [bytes]);
        expect(state).not.toBe('open');
      }),
    );
  });
});
