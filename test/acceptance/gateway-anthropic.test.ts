import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/kernel/limits.ts';
import type { UpstreamLimits } from '../../src/rails/upstream-pool.ts';
import { anthropicUpstream, errorOf, messageOf } from '../support/anthropic-upstream.ts';
import { createFakeLedger } from '../support/fake-ledger.ts';
import { gatewayWorld } from '../support/gateway-world.ts';
import { openAiUpstream } from '../support/openai-upstream.ts';

const AGENT = 1;
const FUNDS = 1_000_000n;
const MODEL = 'acme/claude-1';
const KEY = 'sk-ant-upstream';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];

const RATES = { text_input_token: '1', text_output_token: '5', cached_input_token: '0.1' };
const DEARER = { text_input_token: '5', text_output_token: '20' };

/** A model that a Messages peer sells, and an OpenAI peer dearer; an agent with one dollar. */
async function world(limits: Partial<UpstreamLimits> = {}) {
  const upstream = await anthropicUpstream(KEY);
  const spare = await openAiUpstream();
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const source = (provider: string, rates: typeof RATES | typeof DEARER) =>
    ({ rail: 'direct-account', provider, upstreamModel: `${provider}-model`, rates }) as const;
  const gateway = await gatewayWorld({
    ledger,
    limits,
    secret: () => KEY,
    providers: {
      claude: { baseUrl: upstream.baseUrl, dialect: 'anthropic', apiKeyEnv: 'CLAUDE_KEY' },
      spare: { baseUrl: spare.baseUrl, dialect: 'openai' },
    },
    models: [
      { id: MODEL, modality: 'text', sources: [source('claude', RATES)] },
      {
        id: 'acme/spared',
        modality: 'text',
        sources: [source('claude', RATES), source('spare', DEARER)],
      },
    ],
  });
  const chat = async (more: object = {}) => {
    const response = await gateway.request('/chat/completions', {
      body: { model: MODEL, messages, ...more },
    });
    return { status: response.status, headers: response.headers, json: await response.json() };
  };
  const balanced = async () => {
    await expect.poll(() => ledger.openHolds()).toBe(0);
    const funds = await ledger.funds(AGENT);
    expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
  };
  return {
    ...{ upstream, spare, ledger, gateway, chat, balanced },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      await spare[Symbol.asyncDispose]();
    },
  };
}

describe('a model behind the Messages dialect', () => {
  it('answers the OpenAI SDK, and the header is what the ledger took', async () => {
    await using w = await world();
    const { data, response } = await w.gateway.openai.chat.completions
      .create({ model: MODEL, messages, temperature: 1.5 })
      .withResponse();
    expect(data).toMatchObject({
      object: 'chat.completion',
      model: 'claude-upstream',
      choices: [{ message: { content: 'Good morning.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1_200, completion_tokens: 400, total_tokens: 1_600 },
    });
    // (1,200 × 1 + 400 × 5) × 1.05
    expect(response.headers.get('x-svc-cost-usdc')).toBe('3360');
    expect(w.ledger.consumedRaw(AGENT)).toBe(3_360n);
    expect(w.upstream.seen).toEqual([
      expect.objectContaining({
        path: '/v1/messages',
        body: {
          model: 'claude-model',
          max_tokens: LIMITS.unknownOutputTokens,
          messages: [{ role: 'user', content: [{ type: 'text', text: 'Good morning?' }] }],
          temperature: 1,
        },
      }),
    ]);
    await w.balanced();
  });

  it('calls a tool and hears its result, and both legs are charged by their usage', async () => {
    await using w = await world();
    const { completions } = w.gateway.openai.chat;
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters } }];
    const content = [
      { type: 'text', text: 'Let me see.' },
      { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
      { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { city: 'Rome' } },
    ];
    const usage = {
      ...{ input_tokens: 100, cache_read_input_tokens: 1_000, output_tokens: 50 },
      cache_creation_input_tokens: 200,
    };
    w.upstream.replies.push({ body: messageOf(content, { stop_reason: 'tool_use', usage }) });

    const first = await completions.create({ model: MODEL, messages, tools });
    const message = first.choices[0]?.message;
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    const calls = message?.tool_calls?.flatMap((call) => ('function' in call ? [call] : [])) ?? [];
    expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
      { city: 'Oslo' },
      { city: 'Rome' },
    ]);
    expect(first.usage?.prompt_tokens_details?.cached_tokens).toBe(1_000);
    // (300 × 1 + 1,000 × 0.1 + 50 × 5) × 1.05, rounded up
    expect(w.ledger.consumedRaw(AGENT)).toBe(683n);

    const results = calls.map(({ id }) => ({
      ...{ role: 'tool' as const, tool_call_id: id },
      content: 'Rain',
    }));
    const said = [...messages, ...(message ? [message] : []), ...results];
    const second = await completions.create({ model: MODEL, messages: said, tools });
    expect(second.choices[0]?.message.content).toBe('Good morning.');
    expect(w.upstream.seen[1]?.body.messages).toEqual([
      expect.objectContaining({ role: 'user' }),
      { role: 'assistant', content },
      {
        role: 'user',
        content: ['toolu_1', 'toolu_2'].map((id) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: [{ type: 'text', text: 'Rain' }],
        })),
      },
    ]);
    expect(w.ledger.consumedRaw(AGENT)).toBe(683n + 3_360n);
    await w.balanced();
  });

  it('is estimated where it did not say what it used', async () => {
    await using w = await world();
    const content = [{ type: 'text', text: 'x'.repeat(400) }];
    w.upstream.replies.push({ body: messageOf(content, { usage: null }) });
    const { headers } = await w.chat();
    expect(BigInt(headers.get('x-svc-cost-usdc') ?? 0)).toBeGreaterThanOrEqual(525n);
    expect(w.ledger.charges[0]?.usage).toMatchObject({ text_output_token: 100, estimated: 1 });
    await w.balanced();
  });
});

const event = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const begun = { id: 'msg_1', role: 'assistant', model: 'claude-upstream', content: [] };
const START = event('message_start', {
  message: { ...begun, usage: { input_tokens: 1_200, output_tokens: 1 } },
});
const delta = (text: string) =>
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
const STREAM = [
  ...[
    START,
    event('ping'),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ],
  ...[delta('Good '), delta('morning.'), event('content_block_stop', { index: 0 })],
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 400 } }),
  event('message_stop'),
];
const streamed = (events: readonly string[]) => ({
  headers: { 'content-type': 'text/event-stream' },
  body: events.join(''),
});

describe('a stream of the Messages dialect', () => {
  it('is one of OpenAI chunks, charged by the usage that it tells', async () => {
    await using w = await world();
    w.upstream.replies.push(streamed(STREAM));
    const runner = w.gateway.openai.chat.completions.stream({
      ...{ model: MODEL, messages, stream_options: { include_usage: true } },
    });
    const { choices, usage } = await runner.finalChatCompletion();
    expect(choices).toMatchObject([
      { message: { content: 'Good morning.' }, finish_reason: 'stop' },
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 1_200, completion_tokens: 400 });
    expect(w.upstream.seen[0]?.body).toMatchObject({ stream: true });
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(3_360n);
  });

  it('that breaks off is charged for its input and for what came, and says so', async () => {
    await using w = await world();
    const overloaded = event('error', { error: { type: 'overloaded_error', message: 'x' } });
    w.upstream.replies.push(streamed([...STREAM.slice(0, 5), overloaded]));
    const response = await w.gateway.request('/chat/completions', {
      body: { model: MODEL, messages, stream: true },
    });
    const text = await response.text();
    expect(text).toContain('"content":"morning."');
    expect(text).toContain('upstream_broke_off');
    expect(text).not.toContain('[DONE]');
    await w.balanced();
    // 1,200 tokens of input and four of output, with 5 %, rounded up.
    expect(w.ledger.consumedRaw(AGENT)).toBe(1_281n);
  });

  it('that breaks before it has begun is not paid: the next source is asked', async () => {
    await using w = await world();
    const overloaded = event('error', { error: { type: 'overloaded_error', message: 'x' } });
    w.upstream.replies.push(streamed([overloaded]));
    const response = await w.gateway.request('/chat/completions', {
      body: { model: 'acme/spared', messages, stream: true },
    });
    // The peer there does not stream.
    expect(response.status).toBe(502);
    expect(w.spare.seen).toHaveLength(1);
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
  });
});

describe('what such a model cannot do', () => {
  it('is refused by the name of the field, uncharged and unsent', async () => {
    await using w = await world();
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x' } }];
    const cases = [
      [{ n: 2 }, /^n /],
      [{ response_format: { type: 'json_schema' } }, /^response_format /],
      [{ messages: [...messages, { role: 'assistant', tool_calls: calls }] }, /arguments is not/],
    ] as const;
    for (const [more, message] of cases) {
      const { status, json } = await w.chat(more);
      expect(status).toBe(400);
      expect(json).toMatchObject({
        error: { code: 'invalid_request', message: expect.stringMatching(message) },
      });
    }
    expect(w.upstream.seen).toEqual([]);
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    await w.balanced();
  });

  it('does not count against it, not even what is too deep to be written', async () => {
    await using w = await world();
    const args = `{"x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`;
    const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: args } }];
    const deep = { messages: [...messages, { role: 'assistant', tool_calls: calls }] };
    for (let i = 0; i < 5; i++) {
      const { status, json } = await w.chat(deep);
      expect([status, json]).toMatchObject([
        400,
        { error: { message: expect.stringMatching(/deep/) } },
      ]);
    }
    expect(w.upstream.seen).toEqual([]);
    expect((await w.chat()).status).toBe(200);
    await w.balanced();
  });
});

describe('the upstream’s own refusal', () => {
  it('reaches the caller as an OpenAI error of the same status, uncharged', async () => {
    await using w = await world();
    const body = errorOf('invalid_request_error', 'max_tokens: 9999999 > 64000');
    w.upstream.replies.push({ status: 400, body });
    const { status, headers, json } = await w.chat({ model: 'acme/spared' });
    expect(status).toBe(400);
    expect(json).toEqual({
      error: {
        type: 'invalid_request_error',
        message: 'max_tokens: 9999999 > 64000',
        ...{ param: null, code: null },
      },
    });
    expect(headers.get('x-svc-payment')).toBe('passthrough');
    expect(w.spare.seen).toEqual([]);
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    await w.balanced();
  });
});

describe('an upstream that fails', () => {
  const failures = [
    ['is overloaded', { status: 529, body: errorOf('overloaded_error', 'Overloaded') }],
    ['fails inside', { status: 500, body: errorOf('api_error', 'Internal server error') }],
    ['limits its callers', { status: 429, headers: { 'retry-after': '3' }, body: {} }],
    ['answers what is no message', { body: { type: 'ping' } }],
    ['answers half a message', { body: '{"type":"message","content":[' }],
    ['answers too much', { body: 'x'.repeat(5_000) }],
    ['redirects', { status: 307, headers: { location: 'http://127.0.0.1:9/' }, body: {} }],
    ['says nothing', { isSilent: true }],
  ] as const;

  for (const [name, reply] of failures) {
    it(`is passed over and not paid when it ${name}`, async () => {
      await using w = await world({ responseBytes: 4_096, totalMs: 500 });
      w.upstream.replies.push(reply);
      const { headers, json } = await w.chat({ model: 'acme/spared' });
      expect(json).toMatchObject({ choices: [{ message: { content: 'Good morning.' } }] });
      expect(headers.get('x-svc-attempts')).toBe('2');
      expect(w.spare.seen).toHaveLength(1);
      expect(w.ledger.charges).toHaveLength(1);
      await w.balanced();
    });
  }

  it('is not asked by more callers at once than it may be', async () => {
    await using w = await world({ inFlight: 1 });
    w.upstream.replies.push({ isSilent: true });
    const waiting = new AbortController();
    const call = w.gateway.openai.chat.completions.create(
      { model: MODEL, messages },
      { signal: waiting.signal },
    );
    const left = expect(call).rejects.toThrow();
    await expect.poll(() => w.upstream.seen.length).toBe(1);
    const { headers } = await w.chat({ model: 'acme/spared' });
    expect(headers.get('x-svc-attempts')).toBe('2');
    expect(w.upstream.seen).toHaveLength(1);
    waiting.abort();
    await left;
    await w.balanced();
    expect((await w.chat()).status).toBe(200);
  });
});
