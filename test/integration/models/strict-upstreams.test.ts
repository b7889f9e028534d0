import { describe, expect, it } from 'vitest';
import { type StrictDialect, type StrictModel, strictWorld } from '../../support/strict-world.ts';

type Call = { readonly id: string; readonly args: string };

const HELLO = 'Good morning?';
const TOOL = 'look';

/** A conversation in which the model calls a tool, turn by turn, and the user goes on behind the results. */
const WITH_CALLS: Readonly<Record<StrictDialect, (turns: readonly (readonly Call[])[]) => object>> =
  {
    chat: (turns) => ({
      messages: [
        { role: 'user', content: HELLO },
        ...turns.flatMap((calls) => [
          {
            role: 'assistant',
            content: null,
            tool_calls: calls.map(({ args, id }) => ({
              id,
              type: 'function',
              function: { name: TOOL, arguments: args },
            })),
          },
          ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: `of ${id}` })),
        ]),
        { role: 'user', content: 'And?' },
      ],
    }),
    responses: (turns) => ({
      input: [
        { role: 'user', content: HELLO },
        ...turns.flatMap((calls) => [
          ...calls.map(({ args, id }) => ({
            type: 'function_call',
            call_id: id,
            name: TOOL,
            arguments: args,
          })),
          ...calls.map(({ id }) => ({
            type: 'function_call_output',
            call_id: id,
            output: `of ${id}`,
          })),
        ]),
        { role: 'user', content: 'And?' },
      ],
    }),
    messages: (turns) => ({
      messages: [
        { role: 'user', content: HELLO },
        ...turns.flatMap((calls) => [
          {
            role: 'assistant',
            content: calls.map(({ id }) => ({ type: 'tool_use', id, name: TOOL, input: {} })),
          },
          {
            role: 'user',
            content: [
              ...calls.map(({ id }) => ({
                type: 'tool_result',
                tool_use_id: id,
                content: `of ${id}`,
              })),
            ],
          },
        ]),
        { role: 'user', content: 'And?' },
      ],
    }),
  };

/** Which vendors a dialect is translated for, or fitted to. */
const CELLS: readonly (readonly [StrictDialect, StrictModel])[] = [
  ...(['claude', 'haiku'] as const).map((model) => ['chat', model] as const),
  ...(['claude', 'haiku', 'gpt', 'mistral', 'gemini'] as const).flatMap((model) => [
    ['responses', model] as const,
    ['messages', model] as const,
  ]),
];

const TRANSLATED = CELLS.filter(
  ([dialect, model]) =>
    !(dialect === 'responses' && model === 'gpt') &&
    !(dialect === 'messages' && (model === 'claude' || model === 'haiku')),
);

const call = (id: string, args = '{"a":1}'): Call => ({ id, args });

describe('a conversation that goes from one vendor to another', () => {
  it.each(CELLS)(
    'a conversation of another vendor keeps its calls and results paired in %s to %s, whatever their ids',
    async (dialect, model) => {
      await using w = await strictWorld();
      const turns = [
        [call('functions.Bash:0')],
        [call('call_0'), call('call_1')],
        [call('call_0'), call('call_0')],
        [call('x'.repeat(80))],
      ];
      const sent = await w.ask(dialect, model, WITH_CALLS[dialect](turns));
      expect(pairsIn(sent)).toEqual(
        ['functions.Bash:0', 'call_0', 'call_1', 'call_0', 'call_0', 'x'.repeat(80)].map(
          (id) => `of ${id}`,
        ),
      );
    },
  );

  it.each(CELLS.filter(([dialect]) => dialect !== 'messages'))(
    'a conversation of another vendor is accepted in %s by %s with a call whose id is empty',
    async (dialect, model) => {
      await using w = await strictWorld();
      const sent = await w.ask(dialect, model, WITH_CALLS[dialect]([[call('')], [call('')]]));
      expect(pairsIn(sent)).toEqual(['of ', 'of ']);
    },
  );

  it.each(TRANSLATED.filter(([dialect]) => dialect !== 'messages'))(
    'a conversation of another vendor is accepted in %s by %s with arguments that are no JSON object',
    async (dialect, model) => {
      await using w = await strictWorld();
      const texts = ['{"city": "Ro', '{"a": 1,}', '["a"]', ''];
      const turns = texts.map((args, at) => [call(`call_${at}`, args)]);
      const sent = await w.ask(dialect, model, WITH_CALLS[dialect](turns));
      expect(argumentsIn(sent)).toEqual([
        ...texts.slice(0, 3).map((text) => ({ INVALID_JSON: text })),
        {},
      ]);
    },
  );
});

const EMPTY_TOOLS: Readonly<Record<StrictDialect, object>> = {
  chat: {
    tools: ['a', 'b', 'c'].map((name, at) => ({
      type: 'function',
      function: { name, parameters: [{}, { type: 'object' }, null][at] },
    })),
  },
  responses: {
    tools: ['a', 'b', 'c'].map((name, at) => ({
      type: 'function',
      name,
      strict: false,
      parameters: [{}, { type: 'object' }, null][at],
    })),
  },
  messages: {
    tools: ['a', 'b'].map((name, at) => ({ name, input_schema: [{}, { type: 'object' }][at] })),
  },
};

const said = (dialect: StrictDialect, content: unknown = HELLO): object =>
  dialect === 'responses'
    ? { input: [{ role: 'user', content }] }
    : { messages: [{ role: 'user', content }] };

describe('a request that is translated', () => {
  it.each(TRANSLATED)(
    'a translated request is accepted in %s by %s with tools that have empty schemas',
    async (dialect, model) => {
      await using w = await strictWorld();
      const sent = await w.ask(dialect, model, { ...said(dialect), ...EMPTY_TOOLS[dialect] });
      const nothing = { type: 'object', properties: {} };
      expect(schemasIn(sent).slice(0, 2)).toEqual([nothing, nothing]);
    },
  );

  it.each(TRANSLATED.filter(([dialect]) => dialect !== 'chat'))(
    'a translated request is accepted in %s by %s with a tool that takes an untyped list',
    async (dialect, model) => {
      await using w = await strictWorld();
      const properties = { list: { type: 'array' }, deep: { anyOf: [{ type: 'array' }] } };
      const schema = { type: 'object', properties };
      const tool =
        dialect === 'responses'
          ? { type: 'function', name: 'a', parameters: schema }
          : { name: 'a', input_schema: schema };
      const sent = await w.ask(dialect, model, { ...said(dialect), tools: [tool] });
      const list = { type: 'array', items: {} };
      expect(schemasIn(sent)).toEqual([
        { type: 'object', properties: { list, deep: { anyOf: [list] } } },
      ]);
    },
  );

  it.each(TRANSLATED)(
    'a translated request is accepted in %s by %s with temperature and top_p',
    async (dialect, model) => {
      await using w = await strictWorld();
      const sent = await w.ask(dialect, model, { ...said(dialect), temperature: 0, top_p: 0.5 });
      expect(sent).toMatchObject(SAMPLED[model]);
      const names = ['temperature', 'top_p'].filter((name) => name in (sent as object));
      expect(names).toEqual(Object.keys(SAMPLED[model]));
    },
  );

  it.each(TRANSLATED)(
    'a translated request is accepted in %s by %s with an unpaired surrogate',
    async (dialect, model) => {
      await using w = await strictWorld();
      const sent = await w.ask(
        dialect,
        model,
        said(dialect, 'cut \ud83d, whole 😀, escaped \\ud83d'),
      );
      expect(JSON.stringify(sent)).toContain('cut \ufffd, whole 😀, escaped \\\\ud83d');
    },
  );

  it.each(TRANSLATED.filter(([dialect]) => dialect !== 'chat'))(
    'a translated request is accepted in %s by %s with a tool whose name is too long for chat',
    async (dialect, model) => {
      await using w = await strictWorld();
      const name = `mcp__server__${'x'.repeat(100)}`;
      const tool =
        dialect === 'responses'
          ? { type: 'function', name, parameters: { type: 'object', properties: {} } }
          : { name, input_schema: { type: 'object', properties: {} } };
      await w.ask(dialect, model, { ...said(dialect), tools: [tool] });
    },
  );
});

/** What each model takes of `temperature: 0` and `top_p: 0.5`. */
const SAMPLED: Readonly<Record<StrictModel, object>> = {
  claude: {},
  haiku: { temperature: 0 },
  gpt: {},
  mistral: { temperature: 0, top_p: 0.5 },
  gemini: { temperature: 0, top_p: 0.5 },
};

type Json = Readonly<Record<string, unknown>>;

/** Every object in a body, in its order. */
function* objectsIn(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Json;
  for (const one of Object.values(value)) yield* objectsIn(one);
}

/** The results in a body, in the order of the calls that they answer. */
function pairsIn(body: unknown): unknown[] {
  const calls: unknown[] = [];
  const results = new Map<unknown, string>();
  for (const one of objectsIn(body)) {
    const { call_id: callId, id, tool_call_id: chatId, tool_use_id: useId, type } = one;
    if (type === 'tool_use' || type === 'function') calls.push(id);
    if (type === 'function_call') calls.push(callId);
    const answered = useId ?? chatId ?? (type === 'function_call_output' ? callId : undefined);
    if (answered !== undefined)
      results.set(answered, /of (?:[\w.:]*)/.exec(JSON.stringify(one))?.[0] ?? '');
  }
  return calls.filter((id) => id !== undefined).map((id) => results.get(id));
}

function argumentsIn(body: unknown): unknown[] {
  return [...objectsIn(body)].flatMap(({ arguments: text, input, type }) => {
    if (type === 'tool_use') return [input];
    return typeof text === 'string' ? [JSON.parse(text)] : [];
  });
}

const schemasIn = (body: unknown): unknown[] =>
  [...objectsIn(body)].flatMap(({ input_schema: own, parameters }) => own ?? parameters ?? []);
