import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type {
  ModelEntry,
  ProviderEntry,
  SourceEntry,
} from '../../../src/models/catalogue/builtin/builtin-model.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { createLocalEmbeddingRail } from '../../../src/models/providers/local/local-embedding.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { gatewayWorld } from '../../support/gateway-world.ts';
import { type OpenAiUpstream, openAiUpstream } from '../../support/openai-upstream.ts';
import { vectorOf } from '../../support/vector-list.ts';

const AGENT = 1;
const FUNDS = 1_000_000n;
const MODEL = 'acme/vectors-1';
/** So large a share of a dollar that a test can see a single token. */
const RATES = ['1000', '2000'] as const;

function catalogueOf(upstreams: readonly OpenAiUpstream[]) {
  const providers: Record<string, ProviderEntry> = { local: { baseUrl: null, dialect: 'local' } };
  const sources = upstreams.map(({ baseUrl }, index) => {
    const provider = `up${index}`;
    providers[provider] = { baseUrl, dialect: 'openai', apiKeyEnv: 'UP_KEY' };
    const rates = { text_input_token: RATES[index] ?? '1' };
    return { rail: 'direct-account', provider, upstreamModel: `vendor-${index}`, rates } as const;
  });
  const writing = (source: (typeof sources)[number]) => ({
    ...source,
    rates: { ...source.rates, text_output_token: '1' },
  });
  const local: SourceEntry = {
    rail: 'self-host',
    provider: 'local',
    upstreamModel: 'use-lite',
    rates: { text_input_token: '1' },
  };
  const models: ModelEntry[] = [
    { id: MODEL, modality: 'embedding', sources },
    { id: 'local/use-lite', modality: 'embedding', sources: [local] },
    { id: 'acme/both', modality: 'embedding', sources: [local, ...sources] },
    { id: 'acme/words', modality: 'text', sources: sources.map(writing) },
  ];
  return { providers, models };
}

/** Two upstreams, the gateway in front of them, and an agent with one dollar. */
async function world() {
  const first = await openAiUpstream();
  const second = await openAiUpstream();
  for (const upstream of [first, second]) {
    upstream.usage = { prompt_tokens: 5, completion_tokens: 0 };
  }
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const engine = { embed: async (texts: readonly string[]) => texts.map(() => oneHot()) };
  const gateway = await gatewayWorld({
    ledger,
    secret: () => 'sk-upstream',
    ...catalogueOf([first, second]),
    localEmbedding: createLocalEmbeddingRail({ engine }),
    limits: { totalMs: 1_500 },
  });
  const embed = async (more: object = {}, headers: Record<string, string> = {}) => {
    const body = { model: MODEL, input: 'fives', ...more };
    const response = await gateway.request('/embeddings', { body, headers });
    const json = (await response.json()) as { data?: { embedding: unknown }[] };
    return { response, headers: response.headers, json };
  };
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
    embed,
    balanced,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

const oneHot = () => Float32Array.from({ length: 512 }, (_, i) => (i === 0 ? 1 : 0));

describe('POST /v1/embeddings', () => {
  it('POST /v1/embeddings answers the OpenAI SDK with the upstream’s vectors, and the cost header is the charge', async () => {
    await using w = await world();
    const { data, response } = await w.gateway.openai.embeddings
      .create({ model: MODEL, input: 'four' })
      .withResponse();
    expect(data.data).toEqual([{ object: 'embedding', index: 0, embedding: vectorOf(0) }]);
    expect(data.usage).toEqual({ prompt_tokens: 5, total_tokens: 5 });
    // 5 tokens at 1000 USD per million, and 5 %.
    expect(response.headers.get('x-svc-cost-usdc')).toBe('5250');
    expect(response.headers.get('x-svc-payment-amount')).toBe('0.005250');
    expect(response.headers.get('x-svc-payment')).toBe('gateway');
    expect(response.headers.get('x-svc-model')).toBe(MODEL);
    expect(response.headers.get('x-svc-rail')).toBe('direct-account');
    expect(response.headers.get('x-svc-attempts')).toBeNull();
    expect(w.ledger.consumedRaw(AGENT)).toBe(5_250n);
    expect(w.first.seen[0]?.body).toMatchObject({ encoding_format: 'base64' });
    await w.balanced();
  });

  it('POST /v1/embeddings puts the price into usage when requested, and does not forward that field upstream', async () => {
    await using w = await world();
    const { headers, json } = await w.embed({ usage: { include: true } });
    expect(json).toMatchObject({ usage: { prompt_tokens: 5, cost_raw: '5250' } });
    expect(headers.get('x-svc-cost-usdc')).toBe('5250');
    expect(w.ledger.consumedRaw(AGENT)).toBe(5_250n);
    expect(w.first.seen[0]?.body).not.toHaveProperty('usage');
    for (const usage of [{ include: false }, null]) {
      expect(JSON.stringify((await w.embed({ usage })).json)).not.toContain('cost_raw');
    }
    const local = await w.embed({ model: 'local/use-lite', usage: { include: true } });
    expect(local.json).toMatchObject({
      usage: { cost_raw: local.headers.get('x-svc-cost-usdc') },
    });
    const odd = await w.embed({ usage: { include: 1 } });
    expect(odd.response.status).toBe(400);
    await w.balanced();
  });

  it('POST /v1/embeddings embeds several inputs in their order, with the requested dimensions', async () => {
    await using w = await world();
    for (const encoding_format of ['float', 'base64', undefined] as const) {
      const { data } = await w.gateway.openai.embeddings.create({
        model: MODEL,
        input: ['a', 'b', 'c'],
        dimensions: 2,
        ...(encoding_format && { encoding_format }),
      });
      expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
      if (encoding_format === 'base64') continue;
      expect(data.map(({ embedding }) => embedding)).toEqual([0, 1, 2].map((i) => vectorOf(i, 2)));
    }
    await w.balanced();
  });

  it('POST /v1/embeddings forwards all fields unchanged except the model’s name and the credential', async () => {
    await using w = await world();
    const sent = { input: [[1, 2], [3]], user: 'u-1', dimensions: 3, input_type: 'query' };
    const { json } = await w.embed(sent);
    expect(json.data).toHaveLength(2);
    expect(w.first.seen).toMatchObject([
      {
        path: '/v1/embeddings',
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

  it('POST /v1/embeddings converts vectors to the requested encoding when the upstream uses another', async () => {
    await using w = await world();
    for (const upstream of ['float', 'base64'] as const) {
      w.first.encoding = upstream;
      const floats = await w.embed({ input: ['a', 'b'], encoding_format: 'float' });
      expect(floats.json.data?.[1]).toEqual({
        object: 'embedding',
        index: 1,
        embedding: vectorOf(1),
      });
      const texts = await w.embed({ input: ['a', 'b'], encoding_format: 'base64' });
      expect(texts.json.data?.[1]?.embedding).toBe('AACAPwAAAL8AAIA+AAAAPg==');
    }
    await w.balanced();
  });

  it('POST /v1/embeddings holds one token per byte at the dearest source, and settles to the metered usage', async () => {
    await using w = await world();
    const { response, json } = await w.embed({ input: 'é'.repeat(500) });
    // 1,000 bytes at 1000 or 2000 USD per million and 5 % are more than the dollar.
    expect(response.status).toBe(402);
    expect(json).toMatchObject({ error: { code: 'budget_exhausted' }, required: '2100000' });
    expect((await w.embed({ input: [Array(470).fill(7)] })).response.status).toBe(200);
    expect((await w.embed({ input: Array(1_000).fill(7) })).response.status).toBe(402);
    expect(w.first.seen).toHaveLength(1);
    await w.balanced();
  });

  it('POST /v1/embeddings estimates missing usage, and marks the charge as estimated', async () => {
    await using w = await world();
    w.first.usage = undefined;
    const { headers } = await w.embed({ input: ['twelve chars', 'four'] });
    expect(headers.get('x-svc-cost-usdc')).toBe('4200');
    expect(w.ledger.charges[0]?.usage).toEqual({ text_input_token: 4, estimated: 1 });
    await w.balanced();
  });

  it('POST /v1/embeddings records the tags of the call with its cost', async () => {
    await using w = await world();
    await w.embed({}, { 'x-svc-task-id': ' Errand-1 ', 'x-svc-customer-id': 'ACME' });
    expect(w.ledger.charges[0]).toMatchObject({
      taskId: 'errand-1',
      customerId: 'acme',
      targetUrl: 'gateway://up0/vendor-0',
      usage: { text_input_token: 5 },
    });
  });

  it('POST /v1/embeddings under an Idempotency-Key buys once, and replays with its price', async () => {
    await using w = await world();
    const key = { 'idempotency-key': 'k' };
    const first = await w.embed({}, key);
    const again = await w.embed({}, key);
    expect(again.json).toEqual(first.json);
    expect(again.headers.get('x-svc-cost-usdc')).toBe(first.headers.get('x-svc-cost-usdc'));
    expect(again.headers.get('x-svc-idempotent-replay')).toBe('true');
    expect(w.first.seen).toHaveLength(1);
  });
});

describe('a source of embeddings that fails', () => {
  const failures = [
    ['500', { kind: 'status', status: 500 }],
    ['429', { kind: 'status', status: 429 }],
    ['half an answer', { kind: 'drop', after: 'head' }],
    ['a 2xx that is no list', { kind: 'text', text: '{"choices":[]}' }],
    ['a vector too few', { kind: 'text', text: '{"object":"list","data":[]}' }],
    ['silence', { kind: 'silence' }],
  ] as const;

  it.each(failures)(
    'an embeddings source is passed over and not paid after %s',
    async (_, fault) => {
      await using w = await world();
      w.first.faults.push(fault);
      const { headers, json } = await w.embed();
      expect(json).toMatchObject({ data: [{ embedding: vectorOf(0) }] });
      expect(headers.get('x-svc-attempts')).toBe('2');
      expect(headers.get('x-svc-cost-usdc')).toBe('10500');
      expect(w.ledger.charges).toHaveLength(1);
      await w.balanced();
    },
  );

  it('embeddings whose only source fails cost nothing', async () => {
    await using w = await world();
    for (const upstream of [w.first, w.second]) {
      upstream.faults.push({ kind: 'status', status: 503 });
    }
    const once = { maxRetries: 0 };
    const call = w.gateway.openai.embeddings.create({ model: MODEL, input: 'x' }, once);
    const error = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.InternalServerError);
    expect(error).toMatchObject({ status: 502, code: 'all_sources_failed' });
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
    await w.balanced();
  });

  it('an embeddings source’s refusal of the request is relayed unchanged at no cost', async () => {
    await using w = await world();
    const body = { error: { message: 'dimensions is too large', type: 'invalid_request_error' } };
    w.first.faults.push({ kind: 'status', status: 400, body });
    const call = w.gateway.openai.embeddings.create({ model: MODEL, input: 'x', dimensions: 9 });
    const error = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ error: body.error });
    expect(w.second.seen).toEqual([]);
    await w.balanced();
  });
});

describe('a client that leaves before its vectors are there', () => {
  it('a client that leaves before its vectors stops the upstream call, and its whole hold is released', async () => {
    await using w = await world();
    w.first.faults.push({ kind: 'silence' });
    const leaving = new AbortController();
    const { signal } = leaving;
    const call = w.gateway.openai.embeddings.create({ model: MODEL, input: 'x' }, { signal });
    const gone = expect(call).rejects.toThrow();
    await expect.poll(() => w.first.seen.length).toBe(1);
    leaving.abort();
    await gone;
    await expect.poll(() => w.first.abandoned.count).toBe(1);
    await w.balanced();
    expect(w.ledger.consumedRaw(AGENT)).toBe(0n);
  });
});

describe('a refused request for embeddings', () => {
  it('an invalid embeddings request is refused with an OpenAI error object before any hold', async () => {
    await using w = await world();
    const many = Array(MODEL_LIMITS.embedding.inputs + 1).fill('x');
    const local = { model: 'local/use-lite' };
    const cases = [
      [{ model: 'vectors-2' }, 404, 'model_not_found', 'model', /GET \/v1\/models/],
      [{ model: 'acme/words' }, 400, 'invalid_request', 'model', /modality text/],
      [{ input: undefined }, 400, 'invalid_request', 'input', /must be a text/],
      [{ input: [] }, 400, 'invalid_request', 'input', /must be a text/],
      [{ input: ['a', 1] }, 400, 'invalid_request', 'input', /must be a text/],
      [{ input: many }, 400, 'invalid_request', 'input', /at most 2048 inputs/],
      [{ encoding_format: 'hex' }, 400, 'invalid_request', 'encoding_format', /encoding_format/],
      [{ dimensions: 0 }, 400, 'invalid_request', 'dimensions', /dimensions/],
      [{ ...local, input: ['a', ''] }, 400, 'invalid_request', 'input', /one character/],
      [{ ...local, input: [200_000] }, 400, 'invalid_request', 'input', /cl100k_base does not/],
      [{ ...local, dimensions: 513 }, 400, 'invalid_request', 'dimensions', /512 dimensions/],
    ] as const;
    for (const [more, status, code, param, message] of cases) {
      const { response, json } = await w.embed(more);
      expect({ more, status: response.status }).toEqual({ more, status });
      const error = { type: 'invalid_request_error', code, param };
      expect(json).toMatchObject({ error: { ...error, message: expect.stringMatching(message) } });
    }
    const large = 'x'.repeat(MODEL_LIMITS.embedding.bodyBytes);
    expect((await w.embed({ input: large })).response.status).toBe(413);
    expect(w.first.seen).toEqual([]);
    expect(w.ledger.charges).toEqual([]);
    await w.balanced();
  });
});

describe('a model that this server and an upstream have', () => {
  it('a model of this server and of an upstream is served by this server, or by the upstream if only it can', async () => {
    await using w = await world();
    const here = await w.embed({ model: 'acme/both' });
    expect(here.headers.get('x-svc-rail')).toBe('self-host');
    const there = await w.embed({ model: 'acme/both', dimensions: 1_024 });
    expect(there.headers.get('x-svc-rail')).toBe('direct-account');
    expect(there.headers.get('x-svc-attempts')).toBeNull();
    expect(w.first.seen).toHaveLength(1);
    await w.balanced();
  });
});
