import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type {
  ModelEntry,
  ProviderEntry,
} from '../../../src/models/catalogue/builtin/builtin-model.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import type { CapMember, UpstreamLimits } from '../../../src/models/providers/upstream-pool.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { gatewayWorld } from '../../support/gateway-world.ts';
import { type OpenAiUpstream, openAiUpstream } from '../../support/openai-upstream.ts';

const AGENT = 1;
const FUNDS = 1_000_000n;
const MODEL = 'acme/fast-1';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];

const RATES = { text_input_token: '2.5', text_output_token: '10', cached_input_token: '1.25' };
const DEARER = { text_input_token: '5', text_output_token: '20' };

function catalogueOf(upstreams: readonly OpenAiUpstream[], capMember?: CapMember) {
  const providers: Record<string, ProviderEntry> = {
    gone: { baseUrl: 'http://127.0.0.1:1/v1', dialect: 'openai' },
  };
  const sources = upstreams.map(({ baseUrl }, index) => {
    const provider = `up${index}`;
    providers[provider] = { baseUrl, dialect: 'openai', apiKeyEnv: 'UP_KEY', capMember };
    const rates = index === 0 ? RATES : DEARER;
    return { rail: 'direct-account', provider, upstreamModel: `vendor-${index}`, rates } as const;
  });
  const gone = { rail: 'self-host', provider: 'gone', upstreamModel: 'x' } as const;
  const models: ModelEntry[] = [
    { id: MODEL, modality: 'text', sources },
    { id: 'acme/gone', modality: 'text', sources: [{ ...gone, rates: { request: '1' } }] },
    {
      id: 'acme/half-gone',
      modality: 'text',
      sources: [{ ...gone, rates: { request: '1' } }, ...sources],
    },
    {
      id: 'acme/flat',
      modality: 'text',
      sources: sources.slice(0, 1).map((source) => ({ ...source, rates: { request: '2000' } })),
    },
    {
      id: 'acme/voice',
      modality: 'tts',
      sources: sources.map((source) => ({ ...source, rates: { character: '15' } })),
    },
  ];
  return { providers, models };
}

/** Upstream peers, the gateway in front of them, and an agent with one dollar. */
async function world(
  options: { upstreams?: number; limits?: Partial<UpstreamLimits>; capMember?: CapMember } = {},
) {
  const { upstreams: count = 2, limits, capMember } = options;
  const upstreams: OpenAiUpstream[] = [];
  for (let i = 0; i < count; i++) upstreams.push(await openAiUpstream());
  const [first, second] = upstreams as [OpenAiUpstream, OpenAiUpstream];
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const gateway = await gatewayWorld({
    ledger,
    ...catalogueOf(upstreams, capMember),
    secret: () => 'sk-upstream',
    ...(limits && { limits }),
  });
  const chat = async (more: object = {}, headers: Record<string, string> = {}) => {
    const body = { model: MODEL, messages, ...more };
    const response = await gateway.request('/chat/completions', { body, headers });
    return { response, headers: response.headers, json: await response.json() };
  };
  /** Holds resolve after the answer is gone where the client left; everything else at once. */
  const balanced = async () => {
    await expect.poll(() => ledger.openHolds()).toBe(0);
    const funds = await ledger.funds(AGENT);
    expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
  };
  return {
    first,
    second,
    gateway,
    ledger,
    chat,
    balanced,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('POST /v1/chat/completions', () => {
  it('chat answers the OpenAI SDK with the upstream’s text, and the cost header is the ledger’s charge', async () => {
    await using w = await world();
    const { data, response } = await w.gateway.openai.chat.completions
      .create({ model: MODEL, messages, max_tokens: 500 })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('Good morning.');
    expect(data.usage?.total_tokens).toBe(1_600);
    expect(response.headers.get('x-svc-cost-usdc')).toBe('7350');
    expect(response.headers.get('x-svc-payment-amount')).toBe('0.007350');
    expect(response.headers.get('x-svc-payment')).toBe('gateway');
    expect(response.headers.get('x-svc-model')).toBe(MODEL);
    expect(response.headers.get('x-svc-rail')).toBe('direct-account');
    expect(response.headers.get('x-svc-attempts')).toBeNull();
    expect(w.ledger.consumedRaw(AGENT)).toBe(7_350n);
    await w.balanced();
  });

  it('chat forwards all fields unchanged except the model’s name and the credential', async () => {
    await using w = await world();
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const more = { tool_choice: 'auto', seed: 7, odd: { nested: [1, null] } };
    const sent = { messages, tools, max_tokens: 77, ...more };
    await w.chat(sent);
    expect(w.first.seen).toMatchObject([
      {
        path: '/v1/chat/completions',
        authorization: 'Bearer sk-upstream',
        body: { model: 'vendor-0', ...sent },
      },
    ]);
    expect(Object.keys(w.first.seen[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
    ]);
  });

  it('chat sends the held output limit upstream when the caller has set none', async () => {
    await using w = await world();
    await w.chat();
    expect(w.first.seen[0]?.body).toMatchObject({ max_tokens: MODEL_LIMITS.tokens.unknownOutput });
  });

  it('chat renames the output limit to the field that its provider takes, and keeps a correct field of the caller', async () => {
    await using w = await world({ capMember: 'max_completion_tokens' });
    w.first.usage = { prompt_tokens: 10, completion_tokens: 70 };
    await w.chat();
    await w.chat({ max_tokens: 77 });
    await w.chat({ max_completion_tokens: 78 });
    const caps = w.first.seen.map(({ body }) => [body.max_tokens, body.max_completion_tokens]);
    expect(caps).toEqual([
      [undefined, MODEL_LIMITS.tokens.unknownOutput],
      [undefined, 77],
      [undefined, 78],
    ]);
  });

  it('chat lowers the output limit to the longest answer that the balance covers', async () => {
    await using w = await world({ upstreams: 1 });
    expect((await w.chat({ max_tokens: 1_000_000 })).response.status).toBe(200);
    // One dollar less 21 input tokens at 2.5, at 10 USD per million output tokens, with 5 %.
    expect(w.first.seen[0]?.body).toMatchObject({ max_tokens: 95_232 });
    await w.balanced();
  });

  it('chat bills cached prompt tokens at their own rate', async () => {
    await using w = await world();
    w.first.usage = {
      prompt_tokens: 1_000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 400 },
    };
    expect((await w.chat()).headers.get('x-svc-cost-usdc')).toBe('3150');
  });

  it('chat bills one flat price per request when that is the source’s rate', async () => {
    await using w = await world();
    const { headers } = await w.chat({ model: 'acme/flat' });
    expect(headers.get('x-svc-cost-usdc')).toBe('2100');
    expect(w.ledger.charges[0]?.usage).toMatchObject({ request: 1 });
  });

  it('chat records the tags of the call with its cost, trimmed and in lower case', async () => {
    await using w = await world();
    const tags = {
      'X-Svc-Task-Id': ' Errand-1 ',
      'X-Svc-Action-Id': 'Read',
      'X-Svc-Customer-Id': 'ACME',
    };
    await w.chat({}, tags);
    expect(w.ledger.charges[0]).toMatchObject({
      taskId: 'errand-1',
      actionId: 'read',
      customerId: 'acme',
      rail: 'direct-account',
      targetUrl: 'gateway://up0/vendor-0',
    });
  });

  it('the cost headers of chats add up to all charges, across upstream failures and refusals', async () => {
    await using w = await world();
    let told = 0n;
    for (let i = 0; i < 12; i++) {
      if (i % 3 === 1) w.first.faults.push({ kind: 'status', status: 500 });
      if (i % 4 === 2) w.first.faults.push({ kind: 'status', status: 400 });
      w.first.usage = { prompt_tokens: 11 * i + 1, completion_tokens: 7 * i };
      const { headers } = await w.chat();
      told += BigInt(headers.get('x-svc-cost-usdc') ?? '0');
    }
    expect(told).toBeGreaterThan(0n);
    expect(told).toBe(w.ledger.consumedRaw(AGENT));
    expect(told).toBe(w.ledger.charges.reduce((sum, { costRaw }) => sum + costRaw, 0n));
    await w.balanced();
  });
});

describe('a source that fails', () => {
  const failures = [
    ['500', { kind: 'status', status: 500 }],
    ['429', { kind: 'status', status: 429, headers: { 'retry-after': '3' } }],
    ['a dropped connection', { kind: 'drop', after: 'request' }],
    ['half an answer', { kind: 'drop', after: 'head' }],
    ['a 2xx that is no JSON', { kind: 'text', text: '{"choices": [' }],
    ['a 2xx that is no completion', { kind: 'text', text: '{"error":{"message":"sorry"}}' }],
    ['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/steal' }],
    ['too large an answer, announced', { kind: 'bytes', bytes: 5_000, announced: true }],
    ['too large an answer, in chunks', { kind: 'bytes', bytes: 5_000, announced: false }],
    ['silence', { kind: 'silence' }],
  ] as const;

  for (const [name, fault] of failures) {
    it(`a chat source is passed over and not paid after ${name}`, async () => {
      await using w = await world({ limits: { responseBytes: 4_096, totalMs: 1_500 } });
      w.first.faults.push(fault);
      const { headers, json } = await w.chat();
      expect(json).toMatchObject({ choices: [{ message: { content: 'Good morning.' } }] });
      expect(headers.get('x-svc-attempts')).toBe('2');
      expect(headers.get('x-svc-cost-usdc')).toBe('14700');
      expect(w.ledger.charges).toHaveLength(1);
      await w.balanced();
    });
  }

  it('a chat source that refuses the connection is passed over', async () => {
    await using w = await world();
    const { headers } = await w.chat({ model: 'acme/half-gone' });
    expect(headers.get('x-svc-attempts')).toBe('2');
    expect(headers.get('x-svc-cost-usdc')).toBe('7350');
  });

  it('a chat whose only source fails costs nothing, however often the SDK retries', async () => {
    await using w = await world();
    const call = w.gateway.openai.chat.completions.create({ model: 'acme/gone', messages });
    const error = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({
      status: 502,
      code: 'all_sources_failed',
      type: 'upstream_error',
    });
    const free = expect.objectContaining({ status: 'failed', costRaw: 0n });
    expect(w.ledger.charges).toEqual([free, free, free]);
    await w.balanced();
  });
});

describe('an upstream’s own refusal', () => {
  it('an upstream’s refusal of a chat reaches the caller unchanged, uncharged, and marked as passthrough', async () => {
    await using w = await world();
    const body = { error: { message: 'max_tokens is too large', type: 'invalid_request_error' } };
    w.first.faults.push({ kind: 'status', status: 400, body });
    const { response, headers, json } = await w.chat();
    expect(response.status).toBe(400);
    expect(json).toEqual(body);
    expect(headers.get('x-svc-payment')).toBe('passthrough');
    expect(w.second.seen).toEqual([]);
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    await w.balanced();
  });
});

describe('a client that leaves', () => {
  it('a client that leaves stops the upstream call, and its whole hold is released', async () => {
    await using w = await world();
    w.first.faults.push({ kind: 'silence' });
    const leaving = new AbortController();
    const call = w.gateway.openai.chat.completions.create(
      { model: MODEL, messages },
      { signal: leaving.signal },
    );
    const gone = expect(call).rejects.toThrow();
    await expect.poll(() => w.first.seen.length).toBe(1);
    expect(w.ledger.openHolds()).toBe(1);
    leaving.abort();
    await gone;
    await expect.poll(() => w.first.abandoned.count).toBe(1);
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    expect(w.second.seen).toEqual([]);
  });
});

describe('a refused request', () => {
  it('a chat that the balance does not cover costs nothing and sends nothing', async () => {
    await using w = await world();
    const long = [{ role: 'user' as const, content: 'x'.repeat(400_000) }];
    const error = await w.gateway.openai.chat.completions
      .create({ model: MODEL, messages: long })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      status: 402,
      code: 'budget_exhausted',
      type: 'insufficient_quota',
    });
    const { headers, json } = await w.chat({ messages: long });
    expect(json).toMatchObject({
      available: '1000000',
      required: expect.stringMatching(/^2\d{6}$/),
    });
    expect(headers.get('x-svc-payment')).toBeNull();
    expect(w.first.seen).toEqual([]);
    expect(w.ledger.charges).toEqual([]);
    await w.balanced();
  });

  it('an invalid chat request is refused with an OpenAI error object that names the fault', async () => {
    await using w = await world();
    const cases = [
      [{ model: 'fast-2' }, 404, 'model_not_found', 'model', /GET \/v1\/models/],
      [{ temperature: 2.5 }, 400, 'invalid_request', 'temperature', /temperature/],
      [{ temperature: -0.1 }, 400, 'invalid_request', 'temperature', /temperature/],
      [{ top_p: 1.1 }, 400, 'invalid_request', 'top_p', /top_p/],
      [{ presence_penalty: 3 }, 400, 'invalid_request', 'presence_penalty', /presence_penalty/],
      [{ frequency_penalty: -3 }, 400, 'invalid_request', 'frequency_penalty', /penalty/],
      [{ audio: { voice: 'alloy' } }, 400, 'invalid_request', 'audio', /has no price here/],
      [{ web_search_options: {} }, 400, 'invalid_request', 'web_search_options', /no price/],
      [{ service_tier: 'priority' }, 400, 'invalid_request', 'service_tier', /no price/],
      [{ top_logprobs: 21 }, 400, 'invalid_request', 'top_logprobs', /top_logprobs/],
      [
        { messages: [{ role: 'wizard', content: 'x' }] },
        ...([400, 'invalid_request', 'messages.0.role', /one of.*system.*assistant/] as const),
      ],
      [{ model: 'acme/voice' }, 400, 'invalid_request', 'model', /modality tts/],
      [{ model: 7 }, 400, 'invalid_request', 'model', /model/],
      [{ messages: [] }, 400, 'invalid_request', 'messages', /messages/],
      [{ messages: undefined }, 400, 'invalid_request', 'messages', /messages/],
      [{ max_tokens: -1 }, 400, 'invalid_request', 'max_tokens', /max_tokens/],
    ] as const;
    for (const [more, status, code, param, message] of cases) {
      const { response, json } = await w.chat(more);
      expect(response.status).toBe(status);
      const error = { type: 'invalid_request_error', code, param };
      expect(json).toMatchObject({ error: { ...error, message: expect.stringMatching(message) } });
    }
    const broken = await w.gateway.request('/chat/completions', { body: '{"model":' });
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ error: { code: 'invalid_request' } });
    expect(w.first.seen).toEqual([]);
    expect(w.ledger.charges).toEqual([]);
  });
});

describe('GET /v1/models', () => {
  it('GET /v1/models lists the models for sale, and their prices when requested', async () => {
    await using w = await world();
    const plain = await (await w.gateway.request('/models')).json();
    const entry = {
      id: MODEL,
      object: 'model',
      created: 1_735_689_600,
      owned_by: 'svc',
      modality: 'text',
      context_window: null,
      max_output_tokens: null,
      shutdown_date: null,
    };
    expect(plain).toEqual({ object: 'list', data: expect.arrayContaining([entry]) });
    const priced = await (await w.gateway.request('/models?include=pricing')).json();
    const funded = { input: '2.625000', output: '10.500000', cached_input: '1.312500' };
    const pricing = expect.objectContaining({ unit: 'per_1m_tokens', funded });
    expect(priced).toMatchObject({ data: expect.arrayContaining([{ ...entry, pricing }]) });
  });

  it('GET /v1/models/{id} describes one model, also when the SDK encodes the slash of its id', async () => {
    await using w = await world();
    expect(await w.gateway.openai.models.retrieve(MODEL)).toMatchObject({ id: MODEL });
    const error = await w.gateway.openai.models.retrieve('nobody/none').catch((e: unknown) => e);
    expect(error).toMatchObject({ status: 404, code: 'model_not_found' });
    const listed: string[] = [];
    for await (const { id } of w.gateway.openai.models.list()) listed.push(id);
    expect(listed).toContain('acme/voice');
  });
});
