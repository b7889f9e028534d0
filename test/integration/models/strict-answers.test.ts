import { describe, expect, it } from 'vitest';
import { SHORT_USAGE } from '../../support/openai-upstream.ts';
import {
  callEvent,
  DONE,
  deltaEvent,
  finishEvent,
  usageEvent,
  wholeAnswer,
} from '../../support/stream-upstream.ts';
import {
  ROUTES,
  STRICT_MODELS,
  type StrictDialect,
  type StrictModel,
  strictWorld,
} from '../../support/strict-world.ts';

const HELLO = 'Good morning?';
/** No more than the requests allow: a source that tells more rests. */
const TOLD = { usage: SHORT_USAGE };
const LONG = `mcp__server__${'x'.repeat(100)}`;
const SHORT = /^mcp__server__x{42}_[0-9a-f]{8}$/;

const SCHEMA = {
  type: 'object',
  properties: { days: { type: 'integer', minimum: 1 }, notes: { type: 'object' } },
};

const CLOSED = {
  type: 'object',
  properties: {
    days: { type: 'integer', description: '{minimum: 1}' },
    notes: { type: 'object', additionalProperties: false },
  },
  additionalProperties: false,
};

/** A PNG that is said to be a JPEG. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';

const said = (dialect: StrictDialect, content: unknown): object =>
  dialect === 'responses'
    ? { input: [{ role: 'user', content }] }
    : { messages: [{ role: 'user', content }] };

describe('a tool whose name is longer than chat takes', () => {
  const call = { id: 'callabcd1', type: 'function' };

  it.each(['mistral', 'gemini'] as const)(
    'a tool whose name is too long for chat keeps its name in a Messages answer of %s, whole and streamed',
    async (model) => {
      await using w = await strictWorld();
      const upstream = w[model];
      const asked = {
        model: STRICT_MODELS[model],
        max_tokens: 64,
        messages: [{ role: 'user', content: HELLO }],
        tools: [{ name: LONG, input_schema: { type: 'object' } }],
      };
      const nameOf = (body: Record<string, unknown>) =>
        (body.tools as readonly { readonly function: { readonly name: string } }[])[0]?.function
          .name ?? '';
      upstream.play((body) => {
        const named = { name: nameOf(body), arguments: '{}' };
        expect(named.name).toMatch(SHORT);
        if (body.stream !== true) {
          return wholeAnswer({ content: null, tool_calls: [{ ...call, function: named }] }, TOLD);
        }
        const events = [
          callEvent(0, named, call),
          finishEvent('tool_calls'),
          usageEvent(TOLD.usage),
          DONE,
        ];
        return { pieces: [deltaEvent({ role: 'assistant' }), ...events] };
      });
      const whole = await w.gateway.request(ROUTES.messages, { body: asked });
      expect(await whole.json()).toMatchObject({ content: [{ type: 'tool_use', name: LONG }] });
      const streamed = await w.gateway.request(ROUTES.messages, {
        body: { ...asked, stream: true },
      });
      expect(await streamed.text()).toContain(`"name":"${LONG}"`);
    },
  );

  it('a tool whose name is too long for chat keeps its name in a Messages answer of OpenAI', async () => {
    await using w = await strictWorld();
    w.gpt.play(({ tools }) => {
      const [tool] = tools as readonly { readonly name: string }[];
      return { items: [{ call: tool?.name ?? '', args: '{}' }] };
    });
    const body = {
      model: STRICT_MODELS.gpt,
      max_tokens: 64,
      messages: [{ role: 'user', content: HELLO }],
      tools: [{ name: LONG, input_schema: { type: 'object' } }],
    };
    const answer = await w.gateway.request(ROUTES.messages, { body });
    expect(await answer.json()).toMatchObject({ content: [{ type: 'tool_use', name: LONG }] });
  });

  it('a tool whose name is too long for chat keeps its name in a response of Mistral', async () => {
    await using w = await strictWorld();
    w.mistral.play((body) => {
      const [tool] = body.tools as readonly { readonly function: { readonly name: string } }[];
      const named = { name: tool?.function.name, arguments: '{}' };
      return wholeAnswer({ content: null, tool_calls: [{ ...call, function: named }] });
    });
    const body = {
      model: STRICT_MODELS.mistral,
      input: HELLO,
      tools: [{ type: 'function', name: LONG, parameters: { type: 'object' } }],
    };
    const answer = await w.gateway.request(ROUTES.responses, { body });
    expect(await answer.json()).toMatchObject({ output: [{ type: 'function_call', name: LONG }] });
  });
});

/** The dialects that are translated for Claude. */
const TO_CLAUDE = ['chat', 'responses'] as const;

const answerAs = (dialect: (typeof TO_CLAUDE)[number], format: object): object =>
  dialect === 'chat' ? { response_format: format } : { text: { format: flat(format) } };

/** A format as Responses have it: without the member that chat puts the schema into. */
const flat = ({ json_schema: named, ...format }: { readonly json_schema?: object }): object => ({
  ...format,
  ...named,
});

describe('an answer that Claude is to give', () => {
  it.each(TO_CLAUDE)(
    'an answer schema is sent to Claude closed, with its bounds in descriptions, over %s',
    async (dialect) => {
      await using w = await strictWorld();
      const format = { type: 'json_schema', json_schema: { name: 'trip', schema: SCHEMA } };
      const asked = { ...said(dialect, HELLO), ...answerAs(dialect, format) };
      expect(await w.ask(dialect, 'claude', asked)).toMatchObject({
        output_config: { format: { type: 'json_schema', schema: CLOSED } },
      });
    },
  );

  it.each(TO_CLAUDE)(
    'a strict tool is sent to Claude with a closed schema, over %s',
    async (dialect) => {
      await using w = await strictWorld();
      const named = { name: 'trip', parameters: SCHEMA, strict: true };
      const tool =
        dialect === 'chat' ? { type: 'function', function: named } : { type: 'function', ...named };
      expect(
        await w.ask(dialect, 'claude', { ...said(dialect, HELLO), tools: [tool] }),
      ).toMatchObject({ tools: [{ name: 'trip', strict: true, input_schema: CLOSED }] });
    },
  );

  it.each(TO_CLAUDE)(
    'a json_object format is sent to Claude as an instruction for one JSON object, over %s',
    async (dialect) => {
      await using w = await strictWorld();
      const asked = { ...said(dialect, 'In JSON?'), ...answerAs(dialect, { type: 'json_object' }) };
      const sent = await w.ask(dialect, 'claude', asked);
      expect(sent).not.toHaveProperty('output_config');
      expect(sent).toMatchObject({
        system: [{ type: 'text', text: expect.stringContaining('one valid JSON object') }],
      });
    },
  );

  it('a chat is sent to Claude without blank texts, blank stop sequences and trailing white space', async () => {
    await using w = await strictWorld();
    const sent = await w.ask('chat', 'haiku', {
      messages: [
        { role: 'system', content: ' ' },
        { role: 'user', content: [text('\n'), text(HELLO)] },
        { role: 'assistant', content: 'It is \n' },
      ],
      stop: ['\n', 'END'],
    });
    expect(sent).toMatchObject({
      messages: [
        { role: 'user', content: [text(HELLO)] },
        { role: 'assistant', content: [text('It is')] },
      ],
      stop_sequences: ['END'],
    });
    expect(sent).not.toHaveProperty('system');
  });
});

const text = (words: string) => ({ type: 'text', text: words });

const IMAGES: Readonly<Record<StrictDialect, object>> = {
  chat: { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${PNG}` } },
  responses: { type: 'input_image', image_url: `data:image/jpeg;base64,${PNG}` },
  messages: { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: PNG } },
};

describe('an image that is said to be of another type than it is', () => {
  const cells: readonly (readonly [StrictDialect, StrictModel, string])[] = [
    ['chat', 'claude', '"media_type":"image/png"'],
    ['responses', 'claude', '"media_type":"image/png"'],
    ['messages', 'claude', '"media_type":"image/png"'],
    ['messages', 'gpt', `data:image/png;base64,${PNG}`],
    ['messages', 'gemini', `data:image/png;base64,${PNG}`],
  ];
  it.each(cells)(
    'a mislabelled image is sent from %s to %s under its true type',
    async (dialect, model, shown) => {
      await using w = await strictWorld();
      const sent = await w.ask(dialect, model, said(dialect, [IMAGES[dialect]]));
      expect(JSON.stringify(sent)).toContain(shown);
    },
  );
});
