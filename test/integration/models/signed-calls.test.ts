import Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProviderEntry } from '../../../src/models/catalogue/builtin/builtin-model.ts';
import { BUILTIN_PROVIDERS } from '../../../src/models/catalogue/builtin/providers.ts';
import { type AnthropicUpstream, anthropicUpstream } from '../../support/anthropic-upstream.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { AGENT_KEY, type GatewayWorld, gatewayWorld } from '../../support/gateway-world.ts';
import { seedAgents } from '../../support/ledger-world.ts';
import { responsesUpstream } from '../../support/responses-upstream.ts';
import {
  DONE,
  deltaEvent,
  finishEvent,
  type StreamScript,
  type StreamUpstream,
  streamUpstream,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';

const SIGNED = 'acme/signing-1';
const PLAIN = 'acme/plain-1';
const OWN = 'acme/own-1';
const CLAUDE = 'acme/claude-1';
const SIGNATURE = Buffer.from('what the model thought, sealed '.repeat(40)).toString('base64');
const QUESTION = 'Weather in Oslo and Rome?'.padEnd(1_300, '.');

const call = (id: string, city: string, more: object = {}) => ({
  id,
  type: 'function',
  ...more,
  function: { name: 'weather', arguments: JSON.stringify({ city }) },
});
/** The first of the calls of an answer is signed, as Gemini's are, and they have no numbers. */
const CALLS = [
  call('oslo1', 'Oslo', { extra_content: { google: { thought_signature: SIGNATURE } } }),
  call('rome1', 'Rome'),
];

type Message = { role: string; tool_calls?: Record<string, unknown>[]; tool_call_id?: string };

/** Answers as Gemini does: with signed calls, and once their results are there with words; it refuses a turn of unsigned ones. */
function signingScript(asked: Record<string, unknown>): StreamScript {
  const messages = asked.messages as Message[];
  const called = messages.find(({ tool_calls: calls }) => calls !== undefined);
  const isStream = asked.stream === true;
  if (called === undefined) {
    if (!isStream) return wholeAnswer({ content: null, tool_calls: CALLS });
    const events = CALLS.map((each) => deltaEvent({ tool_calls: [each] }));
    return { pieces: [...events, finishEvent('stop'), usageEvent(), DONE] };
  }
  const results = messages.flatMap(({ tool_call_id: id }) => id ?? []);
  const isRight =
    JSON.stringify(called.tool_calls) === JSON.stringify(CALLS.map(sorted)) &&
    results.join() === 'oslo1,rome1';
  if (!isRight) {
    const error = { code: 400, message: 'Function call is missing a thought_signature.' };
    return {
      status: 400,
      headers: { 'content-type': 'application/json' },
      pieces: [JSON.stringify({ error })],
    };
  }
  return isStream
    ? { pieces: [...wordEvents(['Rain.']), usageEvent(), DONE] }
    : wholeAnswer({ content: 'Rain.' });
}

/** A call with its members in the order in which they are sent. */
const sorted = ({ extra_content, function: called, id, type }: Record<string, unknown>) => ({
  id,
  type,
  function: called,
  ...(extra_content !== undefined && { extra_content }),
});

let database: TestDatabase;
let signing: StreamUpstream;
let plain: StreamUpstream;
let own: Awaited<ReturnType<typeof responsesUpstream>>;
let claude: AnthropicUpstream;
let gateway: GatewayWorld;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  const [agent] = await seedAgents(database.sql, 1);
  const agentId = agent?.agentId ?? 1;
  const ledger = createFakeLedger();
  await ledger.credit({ agentId, amountRaw: 10n ** 12n, reference: `start ${agentId}` });
  signing = await streamUpstream();
  plain = await streamUpstream();
  own = await responsesUpstream();
  claude = await anthropicUpstream('sk-pool');
  signing.play(signingScript);
  plain.play(({ stream }) =>
    stream === true
      ? { pieces: [...wordEvents(['Sun.']), usageEvent(), DONE] }
      : wholeAnswer({ content: 'Sun.' }),
  );
  const rates = { text_input_token: '2.5', text_output_token: '10' };
  const openaiDialect = (baseUrl: string, more: object = {}): ProviderEntry => ({
    baseUrl,
    dialect: 'openai',
    apiKeyEnv: 'UP_KEY',
    ...more,
  });
  gateway = await gatewayWorld({
    ledger,
    agentId,
    keptIn: database.sql,
    secret: () => 'sk-pool',
    providers: {
      signing: openaiDialect(signing.baseUrl, { signsCalls: true }),
      plain: openaiDialect(plain.baseUrl),
      own: openaiDialect(own.baseUrl, { speaksResponses: true }),
      claude: { baseUrl: claude.baseUrl, dialect: 'anthropic', apiKeyEnv: 'UP_KEY' },
    },
    models: [
      [SIGNED, 'signing'] as const,
      [PLAIN, 'plain'] as const,
      [OWN, 'own'] as const,
      [CLAUDE, 'claude'] as const,
    ].map(([id, provider]) => ({
      id,
      modality: 'text',
      sources: [{ rail: 'direct-account', provider, upstreamModel: 'vendor', rates }],
    })),
  });
  openai = gateway.openai;
  anthropic = new Anthropic({
    apiKey: AGENT_KEY,
    authToken: null,
    baseURL: gateway.baseUrl.replace(/\/v1$/, ''),
    maxRetries: 0,
  });
  return async () => {
    await gateway[Symbol.asyncDispose]();
    for (const peer of [signing, plain, own, claude]) await peer[Symbol.asyncDispose]();
  };
});

const tools: OpenAI.Responses.Tool[] = [
  {
    type: 'function',
    name: 'weather',
    strict: false,
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
];
const claudeTools: Anthropic.Tool[] = [
  { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
];

type Items = OpenAI.Responses.ResponseInput;

async function respond(
  request: OpenAI.Responses.ResponseCreateParamsNonStreaming,
  isStream: boolean,
): Promise<OpenAI.Responses.Response> {
  return isStream
    ? openai.responses.stream({ ...request, stream: true }).finalResponse()
    : openai.responses.create(request);
}

/** The results of all calls of a response. */
const resultsOf = ({ output }: OpenAI.Responses.Response): Items =>
  output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'rain' }]
      : [],
  );

const say = (
  request: Omit<Anthropic.MessageCreateParamsNonStreaming, 'max_tokens'>,
  isStream: boolean,
) => {
  const body = { ...request, max_tokens: 500, tools: claudeTools };
  return isStream
    ? anthropic.messages.stream(body).finalMessage()
    : anthropic.messages.create(body);
};

async function calledByClaude(isStream: boolean): Promise<Anthropic.MessageParam[]> {
  const user = { role: 'user' as const, content: QUESTION };
  const first = await say({ model: SIGNED, messages: [user] }, isStream);
  expect(first.stop_reason).toBe('tool_use');
  const calls = first.content.filter((block) => block.type === 'tool_use');
  expect(calls.map(({ input }) => input)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }]);
  for (const { id } of calls) expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
  return [
    user,
    { role: 'assistant', content: first.content },
    {
      role: 'user',
      content: calls.map(({ id }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: 'rain',
      })),
    },
  ];
}

describe.each([
  ['whole', false],
  ['streamed', true],
])('an upstream that refuses calls without their signatures, %s', (_, isStream) => {
  it('an upstream with signed calls accepts the second turn of the openai client that sends the items again', async () => {
    const input: Items = [{ role: 'user', content: QUESTION }];
    const first = await respond({ model: SIGNED, input, tools, store: false }, isStream);
    input.push(...(first.output as Items), ...resultsOf(first));
    const second = await respond({ model: SIGNED, input, tools, store: false }, isStream);
    expect(second.output_text).toBe('Rain.');
  });

  it('an upstream with signed calls accepts the second turn of the openai client that sends previous_response_id', async () => {
    const first = await respond({ model: SIGNED, input: QUESTION, tools }, isStream);
    const request = { model: SIGNED, input: resultsOf(first), previous_response_id: first.id };
    expect((await respond({ ...request, tools }, isStream)).output_text).toBe('Rain.');
    const kept = await openai.responses.retrieve(first.id);
    expect(resultsOf(kept)).toEqual(resultsOf(first));
    expect(JSON.stringify(kept.output)).toContain('_sig1-');
  });

  it('an upstream with signed calls accepts the second turn of Anthropic’s client', async () => {
    const messages = await calledByClaude(isStream);
    const second = await say({ model: SIGNED, messages }, isStream);
    expect(second.content).toMatchObject([{ type: 'text', text: 'Rain.' }]);
  });

  it('another vendor gets tool calls of a signing upstream under their own ids, without signatures', async () => {
    const first = await respond({ model: SIGNED, input: QUESTION, tools }, isStream);
    const follow = { input: resultsOf(first), previous_response_id: first.id, tools };
    expect((await respond({ model: PLAIN, ...follow }, isStream)).output_text).toBe('Sun.');
    await respond({ model: OWN, ...follow }, isStream);
    await respond({ model: CLAUDE, ...follow }, false);
    const messages = await calledByClaude(isStream);
    await say({ model: PLAIN, messages }, isStream);
    await say({ model: CLAUDE, messages }, false);
    await anthropic.messages.countTokens({ model: CLAUDE, messages, tools: claudeTools });
    const seen = [...plain.seen, ...own.seen, ...claude.seen].map((asked) => JSON.stringify(asked));
    expect(seen.length).toBeGreaterThanOrEqual(6);
    for (const asked of seen) {
      expect(asked).toContain('"oslo1"');
      expect(asked).not.toMatch(/_sig1-|extra_content/);
      expect(asked).not.toContain(SIGNATURE.slice(0, 40));
    }
  });
});

it('a fallback to another vendor does not send the call signatures', async () => {
  const first = await respond({ model: SIGNED, input: QUESTION, tools }, false);
  signing.play({ status: 503, pieces: [] });
  const request = { model: SIGNED, models: [PLAIN], input: resultsOf(first), tools };
  const second = await openai.responses.create({ ...request, previous_response_id: first.id });
  expect(second.output_text).toBe('Sun.');
  expect(JSON.stringify(signing.seen.at(-1))).toContain('thought_signature');
  expect(JSON.stringify(plain.seen)).not.toMatch(/_sig1-|thought_signature/);
});

it('tool call ids of an upstream that is not known to sign calls stay unchanged', async () => {
  plain.play(wholeAnswer({ content: null, tool_calls: CALLS }));
  const { output } = await respond({ model: PLAIN, input: QUESTION, tools }, false);
  expect(output).toMatchObject([{ call_id: 'oslo1' }, { call_id: 'rome1' }]);
});

it('Google is the only built-in provider that signs calls', () => {
  const signs = Object.entries(BUILTIN_PROVIDERS).filter(([, { signsCalls }]) => signsCalls);
  expect(signs.map(([id]) => id)).toEqual(['google']);
});
