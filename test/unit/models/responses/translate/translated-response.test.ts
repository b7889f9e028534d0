import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../../src/kernel/json.ts';
import { readChat } from '../../../../../src/models/dialects/chat-reader.ts';
import type { ChatStream } from '../../../../../src/models/providers/chat-rail.ts';
import { StreamBroken } from '../../../../../src/models/providers/openai/answer-reader.ts';
import { RESPONSES_LIMITS } from '../../../../../src/models/responses/limits.ts';
import type { CalledTool } from '../../../../../src/models/responses/translate/tool-names.ts';
import {
  TranslatedResponse,
  translateCompletion,
} from '../../../../../src/models/responses/translate/translated-response.ts';
import { BARE_HEAD, chatStreamOf, type Event, eventsOf } from '../../../../support/chat-answer.ts';
import {
  callEvent,
  chunkEvent,
  deltaEvent,
  finishEvent,
  usageEvent,
} from '../../../../support/stream-upstream.ts';

const translation = () => {
  let made = 0;
  return {
    head: BARE_HEAD,
    model: 'm',
    names: new Map<string, CalledTool>([
      ['crm__find', { kind: 'function', name: 'find', namespace: 'crm' }],
      ['crm__patch', { kind: 'custom', name: 'patch', namespace: 'crm' }],
      ['patch', { kind: 'custom', name: 'patch' }],
      ['tool_search', { kind: 'search', name: 'tool_search' }],
    ]),
    newItemId: (prefix: string) => `${prefix}${++made}`,
    estimate: (answerChars: number) => ({
      inputTokens: 7,
      cachedTokens: 0,
      outputTokens: answerChars,
    }),
  };
};

const translated = (chat: ChatStream) => new TranslatedResponse(readChat(chat), translation());

type Call = {
  readonly id: string;
  readonly name: string;
  readonly args: readonly string[];
  /** The item that it is, but for what all calls have. */
  readonly item: Json;
};
type Answer = {
  readonly thoughts: readonly string[];
  readonly words: readonly string[];
  readonly refusal: readonly string[];
  readonly calls: readonly Call[];
  readonly reason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
};

/** A text in pieces, none of which is empty. */
const pieces = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), {
  maxLength: 5,
});
const inPieces = (text: string, cuts: readonly number[]): string[] => {
  const at = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted(
    (a, b) => a - b,
  );
  return at.slice(1).map((end, i) => text.slice(at[i], end));
};
const cuts = fc.array(fc.nat(200), { maxLength: 6 });
const members = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 });
const functionCall = fc
  .record({ name: fc.constantFrom('a', 'b'), cuts, value: members })
  .map(({ cuts: at, name, value }): Omit<Call, 'id'> => {
    const text = JSON.stringify(value);
    const item = { type: 'function_call', name, arguments: text };
    return { name, args: inPieces(text, at), item };
  });
const customCall = fc
  .record({
    cuts,
    input: fc.string({ unit: 'grapheme' }),
    name: fc.constantFrom('patch', 'crm__patch'),
  })
  .map(({ cuts: at, input, name }): Omit<Call, 'id'> => {
    const item = { type: 'custom_tool_call', input, name: 'patch' };
    const namespace = name === 'patch' ? {} : { namespace: 'crm' };
    const args = inPieces(JSON.stringify({ input }), at);
    return { name, args, item: { ...item, ...namespace } };
  });
const searchCall = fc.record({ cuts, value: members }).map(
  ({ cuts: at, value }): Omit<Call, 'id'> => ({
    name: 'tool_search',
    args: inPieces(JSON.stringify(value), at),
    item: {
      type: 'tool_search_call',
      execution: 'client',
      arguments: JSON.parse(JSON.stringify(value)),
    },
  }),
);
const answers: fc.Arbitrary<Answer> = fc.record({
  thoughts: pieces,
  words: pieces,
  refusal: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, pieces),
  calls: fc
    .array(fc.oneof(functionCall, customCall, searchCall), { maxLength: 4 })
    .map((calls) => calls.map((call, at) => ({ ...call, id: `call_${at}` }))),
  reason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
});

const joined = (texts: readonly string[]) => texts.join('');

/** The output that an answer has to have, without ids. */
function expectedOf({ calls, reason, refusal, thoughts, words }: Answer): Json[] {
  const isCut = reason === 'length' || reason === 'content_filter';
  const output: Json[] = [];
  if (thoughts.length > 0) {
    const content = [{ type: 'reasoning_text', text: joined(thoughts) }];
    output.push({ type: 'reasoning', summary: [], content });
  }
  const parts: Json[] = [];
  const text = { type: 'output_text', annotations: [], logprobs: [] };
  if (words.length > 0) parts.push({ ...text, text: joined(words) });
  if (refusal.length > 0) parts.push({ type: 'refusal', refusal: joined(refusal) });
  if (parts.length > 0) output.push({ type: 'message', role: 'assistant', content: parts });
  for (const { id, item } of calls) output.push({ call_id: id, ...item });
  if (output.length === 0 && !isCut) {
    output.push({ type: 'message', role: 'assistant', content: [{ ...text, text: '' }] });
  }
  return output;
}

const withoutIds = (output: unknown) =>
  (output as Json[]).map(({ id: _, status: __, ...item }) => item);

/** The pieces of an answer; calls one behind the other, or side by side. */
function chunksOf({ calls, reason, refusal, thoughts, words }: Answer, sideBySide: boolean) {
  const heads = calls.map(({ id, name }, at) => callEvent(at, { name, arguments: '' }, { id }));
  const rest = calls.map(({ args: of }, at) =>
    of.map((text) => callEvent(at, { arguments: text })),
  );
  const called = sideBySide
    ? [...heads, ...rest.map(([first = '']) => first), ...rest.flatMap(([, ...more]) => more)]
    : heads.flatMap((head, at) => [head, ...(rest[at] ?? [])]);
  return [
    deltaEvent({ role: 'assistant', content: '' }),
    ...thoughts.map((reasoning_content) => deltaEvent({ reasoning_content })),
    ...words.map((content) => deltaEvent({ content })),
    ...refusal.map((text) => deltaEvent({ refusal: text })),
    ...called,
    finishEvent(reason),
    usageEvent(),
  ];
}

const USED = {
  input_tokens: 1_200,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 400,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1_600,
};

describe('a chat stream as a response', () => {
  it('a chat stream translated to Responses keeps texts, calls, order and usage, and numbers its events', async () => {
    await fc.assert(
      fc.asyncProperty(answers, fc.boolean(), async (answer, sideBySide) => {
        const stream = translated(chatStreamOf(chunksOf(answer, sideBySide)));
        const events = await eventsOf(stream);
        const response = stream.response();
        const output = response.output as Json[];
        expect(withoutIds(output)).toEqual(expectedOf(answer));
        expect(response.usage).toEqual(USED);
        expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
        expect(stream.sequence()).toBe(events.length);
        for (const [at, item] of output.entries()) {
          const own = events.filter((event) => event.output_index === at);
          expect(own[0]).toMatchObject({
            type: 'response.output_item.added',
            item: { id: item.id },
          });
          expect(own.at(-1)).toMatchObject({ type: 'response.output_item.done', item });
          const deltas = own.filter(({ type }) => type.endsWith('.delta'));
          const told = deltas.map(({ delta }) => delta).join('');
          const texts = (item.content as Json[] | undefined)?.map(
            (part) => part.text ?? part.refusal,
          );
          const isSearch = item.type === 'tool_search_call';
          expect(told).toBe(texts?.join('') ?? (isSearch ? '' : (item.input ?? item.arguments)));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('a whole completion translated to a response has the same output as its stream', async () => {
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        const { calls, reason, refusal, thoughts, words } = answer;
        const message = {
          role: 'assistant',
          content: words.length === 0 ? null : joined(words),
          reasoning_content: joined(thoughts),
          refusal: joined(refusal),
          tool_calls: calls.map(({ args: of, id, name }) => ({
            id,
            type: 'function',
            function: { name, arguments: joined(of) },
          })),
        };
        const usage = { prompt_tokens: 1_200, completion_tokens: 400, total_tokens: 1_600 };
        const body = { choices: [{ index: 0, message, finish_reason: reason }], usage };
        const whole = await translateCompletion(
          {
            body: Buffer.from(JSON.stringify(body)),
            contentType: 'application/json',
            answerChars: 0,
            usage: null,
          },
          translation(),
        );
        expect(withoutIds(whole?.response.output)).toEqual(expectedOf(answer));
        const isCut = reason === 'length' || reason === 'content_filter';
        expect(whole?.response).toMatchObject({
          status: isCut ? 'incomplete' : 'completed',
          usage: USED,
        });
      }),
      { numRuns: 200 },
    );
  });

  it('a chat stream translated to Responses closes each item before the next, except parallel calls', async () => {
    const call = (at: number, text: string) => callEvent(at, { arguments: text });
    const open = (at: number) => callEvent(at, { name: 'a', arguments: '' }, { id: `call_${at}` });
    const kinds = async (chunks: readonly string[]) => {
      const events = await eventsOf(translated(chatStreamOf(chunks)));
      return events
        .filter(({ type }) => type.startsWith('response.output_item'))
        .map(({ output_index: at, type }) => `${at} ${type.split('.').at(-1)}`);
    };
    const inTurn = [open(0), call(0, '{}'), open(1), call(1, '{}'), finishEvent('tool_calls')];
    expect(await kinds(inTurn)).toEqual(['0 added', '0 done', '1 added', '1 done']);
    const mixed = [open(0), open(1), call(0, '{}'), call(1, '{}'), finishEvent('tool_calls')];
    expect(await kinds(mixed)).toEqual(['0 added', '1 added', '0 done', '1 done']);
  });

  it('a chat stream translated to Responses tells calls with one number apart by their ids', async () => {
    const whole = (id: string) => callEvent(0, { name: 'a', arguments: '{}' }, { id });
    const chunks = [whole('x'), whole('y'), finishEvent('tool_calls')];
    const stream = translated(chatStreamOf(chunks));
    await eventsOf(stream);
    expect(stream.response().output).toMatchObject([{ call_id: 'x' }, { call_id: 'y' }]);
  });

  it('a chat stream translated to Responses restores the name and the namespace of a function', async () => {
    const chunks = [callEvent(0, { name: 'crm__find', arguments: '{}' }, { id: 'x' })];
    const stream = translated(chatStreamOf(chunks));
    await eventsOf(stream);
    expect(stream.response().output).toMatchObject([{ name: 'find', namespace: 'crm' }]);
  });

  it('a chat stream translated to Responses streams a custom tool’s input, and keeps a cut input', async () => {
    const of = (text: string) => callEvent(0, { arguments: text });
    const chunks = [
      callEvent(0, { name: 'patch', arguments: '{"inp' }, { id: 'x' }),
      of('ut": "*** Be'),
      of('gin\\'),
      of('n+\\ud83d'),
      of('\\ude00 a'),
      finishEvent('length'),
    ];
    const stream = translated(chatStreamOf(chunks));
    const events = await eventsOf(stream);
    const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.map(({ delta }) => delta)).toEqual(['*** Be', 'gin', '\n+', '\u{1f600} a']);
    const input = '*** Begin\n+\u{1f600} a';
    expect(events.find(({ type }) => type.endsWith('input.done'))).toMatchObject({ input });
    expect(stream.response().output).toMatchObject([
      { type: 'custom_tool_call', status: 'incomplete', name: 'patch', call_id: 'x', input },
    ]);
  });

  it('a chat stream translated to Responses estimates missing or invalid usage', async () => {
    for (const usage of [undefined, { prompt_tokens: -1, completion_tokens: 1e99 }]) {
      const chunks = [deltaEvent({ content: 'Hi' }), ...(usage ? [usageEvent(usage)] : [])];
      const stream = translated(chatStreamOf(chunks, { answerChars: 2 }));
      await eventsOf(stream);
      expect(stream.response().usage).toMatchObject({ input_tokens: 7, output_tokens: 2 });
    }
  });

  it('a chat stream translated to Responses breaks on an upstream error, a continued call and too many calls', async () => {
    const late = [
      callEvent(0, { name: 'a', arguments: '{}' }, { id: 'x' }),
      callEvent(1, { name: 'a', arguments: '{}' }, { id: 'y' }),
      callEvent(0, { arguments: '{"more":1}' }),
    ];
    const error = [`data: ${JSON.stringify({ error: { message: 'no' } })}\n\n`];
    const many = Array.from({ length: 1_025 }, (_, at) =>
      callEvent(at, { name: 'a' }, { id: `${at}` }),
    );
    for (const chunks of [late, error, many]) {
      const stream = translated(chatStreamOf(chunks));
      await expect(eventsOf(stream)).rejects.toBeInstanceOf(StreamBroken);
    }
  });

  it.each([
    ['reports an error', [`data: ${JSON.stringify({ error: { code: 'overloaded' } })}\n\n`]],
    [
      'has one item too many',
      Array.from({ length: RESPONSES_LIMITS.answer.outputParts }, (_, at) =>
        callEvent(at, { name: 'a', arguments: '{}' }, { id: `${at}` }),
      ),
    ],
  ])(
    'a chat stream translated to Responses delivers a whole piece before its upstream %s',
    async (_, breaking) => {
      const piece = [...['Hi', ' you'].map((content) => deltaEvent({ content })), ...breaking];
      const stream = translated(chatStreamOf([piece.join('')]));
      const events: Event[] = [];
      await expect(eventsOf(stream, events)).rejects.toBeInstanceOf(StreamBroken);
      expect(events.slice(0, 2)).toMatchObject([
        { type: 'response.created' },
        { type: 'response.in_progress' },
      ]);
      expect(
        events.flatMap(({ delta, type }) => (/text.delta$/.test(type) ? [delta] : [])),
      ).toEqual(['Hi', ' you']);
      expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at));
      expect(stream.sequence(), 'the last event is numbered without a gap').toBe(events.length);
    },
  );

  it('a chat stream translated to Responses stops its upstream when a repeated chunk has one part too many', async () => {
    const turns = Array.from({ length: RESPONSES_LIMITS.answer.outputParts }, () => [
      deltaEvent({ content: 'word' }),
      deltaEvent({ reasoning_content: 'thought' }),
    ]).flat();
    let stops = 0;
    const chat = chatStreamOf(turns.slice(0, RESPONSES_LIMITS.answer.outputParts + 1));
    const counted = { ...chat, stop: () => stops++ };
    const events = eventsOf(translated(counted));
    await expect(events).rejects.toThrow(new StreamBroken('a delta cannot be added to the answer'));
    expect(stops).toBe(1);
  });

  it('a chat stream translated to Responses accepts a call whose arguments are a list', async () => {
    const chunks = [
      callEvent(0, { name: 'a', arguments: '[{"n":1}' }, { id: 'x' }),
      callEvent(1, { name: 'a', arguments: '{}' }, { id: 'y' }),
      callEvent(0, { arguments: ',2]' }),
    ];
    const stream = translated(chatStreamOf(chunks));
    await eventsOf(stream);
    expect(stream.response().output).toMatchObject([
      { arguments: '[{"n":1},2]', status: 'completed' },
      { arguments: '{}', status: 'completed' },
    ]);
  });

  it('a completion without a valid choice becomes no response, and a chat stream’s later choices are ignored', async () => {
    const completion = (body: unknown) => ({
      body: Buffer.from(JSON.stringify(body)),
      contentType: 'application/json',
      answerChars: 0,
      usage: null,
    });
    for (const body of [{}, { choices: [] }, { choices: [{ index: 0 }] }, 1]) {
      expect(await translateCompletion(completion(body), translation())).toBeUndefined();
    }
    const chunks = [
      ...['no', 'way'].map((content) =>
        chunkEvent([{ index: 1, delta: { content }, finish_reason: null }]),
      ),
      ...['Hi', ' you'].map((content) => deltaEvent({ content })),
    ];
    const stream = translated(chatStreamOf(chunks));
    await eventsOf(stream);
    expect(stream.response().output).toMatchObject([{ content: [{ text: 'Hi you' }] }]);
  });
});
