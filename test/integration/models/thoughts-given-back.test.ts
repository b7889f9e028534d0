import Anthropic from '@anthropic-ai/sdk';
import type { Responses } from 'openai/resources';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ModelEntry } from '../../../src/models/catalogue/builtin/builtin-model.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { responsesWorld } from '../../support/responses-world.ts';
import { type StreamUpstream, streamUpstream } from '../../support/stream-upstream.ts';
import {
  CITY,
  SAID,
  THOUGHTS,
  thinkingVendor,
  type Vendor,
} from '../../support/thinking-vendor.ts';

const SWITCHED = 'acme/switched';
const ALWAYS = 'acme/always';
const STRICT = 'acme/strict';
/** The strict vendor has it first, and is busy. */
const BOTH = 'acme/both';

const VENDORS = ['switched', 'always', 'strict'] as const;

const sourceOf = (provider: Vendor, price: string) => ({
  ...({ rail: 'direct-account', provider, upstreamModel: provider } as const),
  rates: { text_input_token: price, text_output_token: price },
  ...(provider === 'switched' && { thinkingSwitch: true }),
});

const modelOf = (id: string, ...providers: readonly Vendor[]): ModelEntry => ({
  id,
  modality: 'text',
  sources: providers.map((provider, at) => sourceOf(provider, String(at + 1))),
});

async function world(database: TestDatabase) {
  const upstreams = {} as Record<Vendor, StreamUpstream>;
  for (const vendor of VENDORS) {
    upstreams[vendor] = await streamUpstream();
    upstreams[vendor].play(thinkingVendor(vendor));
  }
  const providerOf = (vendor: Vendor) => ({
    ...({ baseUrl: upstreams[vendor].baseUrl, dialect: 'openai', apiKeyEnv: 'UP_KEY' } as const),
    ...(vendor !== 'strict' && { thoughts: 'demanded' as const }),
  });
  const inner = await responsesWorld({
    sql: database.sql,
    providers: Object.fromEntries(VENDORS.map((vendor) => [vendor, providerOf(vendor)])),
    models: [
      modelOf(SWITCHED, 'switched'),
      modelOf(ALWAYS, 'always'),
      modelOf(STRICT, 'strict'),
      modelOf(BOTH, 'strict', 'switched'),
    ],
  });
  const { gateway } = inner;
  const claude = new Anthropic({
    apiKey: AGENT_KEY,
    authToken: null,
    baseURL: gateway.baseUrl.replace(/\/v1$/, ''),
    maxRetries: 0,
  });
  return {
    upstreams,
    claude,
    openai: gateway.openai.withOptions({ maxRetries: 0 }),
    async [Symbol.asyncDispose]() {
      await inner[Symbol.asyncDispose]();
      for (const vendor of VENDORS) await upstreams[vendor][Symbol.asyncDispose]();
    },
  };
}

let database: TestDatabase;
let w: Awaited<ReturnType<typeof world>>;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  w = await world(database);
  return () => w[Symbol.asyncDispose]();
});

/** What the vendor was given back in its last request, message by message. */
const givenBack = (vendor: Vendor): unknown[] => {
  const { messages } = w.upstreams[vendor].seen.at(-1) as { messages: { role: string }[] };
  return messages
    .filter(({ role }) => role === 'assistant')
    .map((message) => (message as { reasoning_content?: unknown }).reasoning_content);
};

const lastAsked = (vendor: Vendor) => w.upstreams[vendor].seen.at(-1);

const TOOL = {
  ...({ type: 'function', name: 'weather', strict: null } as const),
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

type Ask = Pick<
  Responses.ResponseCreateParamsNonStreaming,
  'input' | 'model' | 'previous_response_id' | 'reasoning'
>;

async function respond(isStream: boolean, ask: Ask): Promise<Responses.Response> {
  const body = { ...ask, tools: [TOOL] };
  return isStream
    ? w.openai.responses.stream(body).finalResponse()
    : w.openai.responses.create(body);
}

const user = (content: string) => ({ role: 'user', content }) as const;

const resultOf = ({ output }: Responses.Response) =>
  output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ ...({ type: 'function_call_output', output: '21' } as const), call_id: item.call_id }]
      : [],
  );

describe.each([
  ['whole', false],
  ['streamed', true],
])('a loop of tools over /v1/responses, %s', (_, isStream) => {
  it.each([SWITCHED, ALWAYS])(
    'a tool loop over /v1/responses returns the thoughts of %s to their vendor',
    async (model) => {
      const vendor = model === ALWAYS ? 'always' : 'switched';
      const input: Responses.ResponseInput = [user('Rome?')];
      for (const question of ['And now?', 'And then?']) {
        const called = await respond(isStream, { model, input });
        expect(called.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call']);
        input.push(...(called.output as Responses.ResponseInputItem[]), ...resultOf(called));
        const said = await respond(isStream, { model, input });
        expect(said.output_text).toBe(SAID);
        input.push(...(said.output as Responses.ResponseInputItem[]), user(question));
      }
      expect(givenBack(vendor)).toEqual([THOUGHTS.call, THOUGHTS.words, THOUGHTS.call]);
    },
  );

  it('a tool loop over /v1/responses returns the thoughts of a stored conversation to their vendor', async () => {
    const called = await respond(isStream, { model: SWITCHED, input: 'Rome?' });
    const said = await respond(isStream, {
      model: SWITCHED,
      previous_response_id: called.id,
      input: resultOf(called),
    });
    await respond(isStream, { model: SWITCHED, previous_response_id: said.id, input: 'And now?' });
    expect(givenBack('switched')).toEqual([THOUGHTS.call, THOUGHTS.words]);
    expect(lastAsked('switched')).not.toHaveProperty('thinking');
  });

  it('a tool loop over /v1/responses returns no thoughts to a vendor that does not require them', async () => {
    const called = await respond(isStream, { model: STRICT, input: [user('Rome?')] });
    const input = [
      user('Rome?'),
      ...(called.output as Responses.ResponseInputItem[]),
      ...resultOf(called),
    ];
    const said = await respond(isStream, { model: STRICT, input });
    expect(said.output_text).toBe(SAID);
    expect(givenBack('strict')).toEqual([undefined]);
  });
});

describe('/v1/responses, where thoughts were lost', () => {
  const asked = [
    user('Rome?'),
    {
      ...({ type: 'reasoning', id: 'rs_1', summary: [] } as const),
      encrypted_content: 'c2VhbGVk',
    },
    {
      ...({ type: 'function_call', call_id: 'call_1', name: 'weather' } as const),
      arguments: JSON.stringify(CITY),
    },
    { ...({ type: 'function_call_output', output: '21' } as const), call_id: 'call_1' },
  ] satisfies Responses.ResponseInput;

  it('a response with sealed thoughts continues with thinking disabled, and never sends the sealed text', async () => {
    const reasoning = { effort: 'high' } as const;
    const said = await respond(false, { model: SWITCHED, input: asked, reasoning });
    expect(said.output_text).toBe(SAID);
    expect(lastAsked('switched')).toMatchObject({ thinking: { type: 'disabled' } });
    expect(JSON.stringify(lastAsked('switched'))).not.toContain('c2VhbGVk');
  });

  it('a response returns the summary of a thought whose text was never shown', async () => {
    const summary = ['First.', 'Then.'].map((text) => ({ type: 'summary_text' as const, text }));
    const input = asked.map((item) =>
      'summary' in item ? { ...item, summary } : item,
    ) as Responses.ResponseInput;
    const said = await respond(false, { model: ALWAYS, input });
    expect(said.output_text).toBe(SAID);
    expect(givenBack('always')).toEqual(['First.\n\nThen.']);
  });
});

it('a response with effort none disables thinking at the vendor', async () => {
  await respond(false, { model: SWITCHED, input: 'Rome?', reasoning: { effort: 'none' } });
  expect(lastAsked('switched')).toMatchObject({ thinking: { type: 'disabled' } });
  expect(lastAsked('switched')).not.toHaveProperty('reasoning_effort');
});

it('a response’s fallback sources each get the thoughts in the form that they accept', async () => {
  const called = await respond(false, { model: BOTH, input: [user('Rome?')] });
  expect(w.upstreams.strict.seen).toHaveLength(1);
  w.upstreams.strict.play({ status: 503, pieces: [] });
  const input = [
    user('Rome?'),
    ...(called.output as Responses.ResponseInputItem[]),
    ...resultOf(called),
  ];
  expect((await respond(false, { model: BOTH, input })).output_text).toBe(SAID);
  expect(givenBack('strict')).toEqual([undefined]);
  expect(givenBack('switched')).toEqual([THOUGHTS.call]);
});

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const THINKING = { type: 'enabled', budget_tokens: 1_024 } as const;

type Turn = Anthropic.MessageParam;
type Thinking = Anthropic.ThinkingConfigParam | undefined;

async function tell(
  isStream: boolean,
  ask: { readonly model: string; readonly messages: Turn[]; readonly thinking: Thinking },
): Promise<Anthropic.Message> {
  const { thinking, ...rest } = ask;
  const body = { ...rest, max_tokens: 2_000, tools: [WEATHER], ...(thinking && { thinking }) };
  return isStream ? w.claude.messages.stream(body).finalMessage() : w.claude.messages.create(body);
}

const toldBack = ({ content }: Anthropic.Message): Turn[] => [
  { role: 'assistant', content },
  {
    role: 'user',
    content: content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: '21' }]
        : [],
    ),
  },
];

/** A call, its result and the words, and the blocks of both answers. */
async function loop(isStream: boolean, model: string, thinking: Thinking) {
  const messages: Turn[] = [{ role: 'user', content: 'Rome?' }];
  const called = await tell(isStream, { model, messages, thinking });
  messages.push(...toldBack(called));
  const said = await tell(isStream, { model, messages, thinking });
  return [called, said].map(({ content }) => content.map(({ type }) => type));
}

describe.each([
  ['whole', false],
  ['streamed', true],
])('a loop of tools over /v1/messages, %s', (_, isStream) => {
  const SHOWN = [
    ['thinking', 'tool_use'],
    ['thinking', 'text'],
  ];
  const UNSHOWN = [['tool_use'], ['text']];

  it.each([
    ['asked for', THINKING],
    ['left to the model', { type: 'adaptive' } as const],
  ])(
    'a tool loop over /v1/messages returns the thoughts to their vendor when thoughts are %s',
    async (_name, thinking) => {
      expect(await loop(isStream, SWITCHED, thinking)).toEqual(SHOWN);
      expect(givenBack('switched')).toEqual([THOUGHTS.call]);
    },
  );

  it.each([
    ['are not asked for', undefined],
    ['are refused', { type: 'disabled' } as const],
  ])(
    'a tool loop over /v1/messages disables the model’s thinking when thoughts %s',
    async (_name, thinking) => {
      expect(await loop(isStream, SWITCHED, thinking)).toEqual(UNSHOWN);
      expect(lastAsked('switched')).toMatchObject({ thinking: { type: 'disabled' } });
      expect(givenBack('switched')).toEqual([undefined]);
    },
  );

  it('a tool loop over /v1/messages shows thoughts of a model that always thinks and requires them back', async () => {
    expect(await loop(isStream, ALWAYS, undefined)).toEqual(SHOWN);
    expect(givenBack('always')).toEqual([THOUGHTS.call]);
    expect(lastAsked('always')).not.toHaveProperty('thinking');
  });

  it('a tool loop over /v1/messages returns no thoughts to a vendor that does not require them', async () => {
    expect(await loop(isStream, STRICT, THINKING)).toEqual(SHOWN);
    expect(await loop(isStream, STRICT, undefined)).toEqual(UNSHOWN);
    expect(givenBack('strict')).toEqual([undefined]);
  });
});

describe('/v1/messages, of a conversation that another model began', () => {
  const called = (...thoughts: Anthropic.ContentBlockParam[]): Turn[] => [
    { role: 'user', content: 'Rome?' },
    {
      role: 'assistant',
      content: [...thoughts, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: CITY }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '21' }] },
  ];

  it('a message sends another model’s thoughts as text, without their signature', async () => {
    const messages = called({ type: 'thinking', thinking: 'Let me see.', signature: 'c2lnbmVk' });
    await tell(false, { model: SWITCHED, messages, thinking: THINKING });
    expect(givenBack('switched')).toEqual(['Let me see.']);
    expect(lastAsked('switched')).toMatchObject({ thinking: { type: 'enabled' } });
    expect(JSON.stringify(lastAsked('switched'))).not.toContain('c2lnbmVk');
  });

  it('a message with another model’s sealed thoughts continues with thinking disabled', async () => {
    const messages = called({ type: 'redacted_thinking', data: 'c2VhbGVk' });
    const said = await tell(false, { model: SWITCHED, messages, thinking: THINKING });
    expect(said.content).toMatchObject([{ type: 'text', text: SAID }]);
    expect(lastAsked('switched')).toMatchObject({ thinking: { type: 'disabled' } });
    expect(JSON.stringify(lastAsked('switched'))).not.toContain('c2VhbGVk');
  });
});
