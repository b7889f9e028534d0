import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type * as Catalogue from '../../../src/models/catalogue/builtin/builtin-model.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import type { RateLimits } from '../../../src/rate-limit/rate-gate.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { AGENT_KEY, gatewayWorld } from '../../support/gateway-world.ts';
import { openAiUpstream } from '../../support/openai-upstream.ts';
import { DONE, streamUpstream, usageEvent, wordEvents } from '../../support/stream-upstream.ts';

const AGENT = 1;
const FUNDS = 1_000_000n;
const MODEL = 'acme/fast-1';
const HOSTED = 'llama/open-8b';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];
const OWN = 'sk-own-0123456789';
const POOLED = { text_input_token: '2.5', text_output_token: '10' };
const DEAR = { text_input_token: '2500', text_output_token: '10000' };
const POOLED_COST = 7_350n;

type Options = {
  readonly funds?: bigint;
  /** What the pool takes for a million tokens, either way. */
  readonly pooled?: Catalogue.RateTexts;
  readonly storedKeys?: Readonly<Record<string, string>>;
  /** Whether this server has keys itself. */
  readonly sells?: boolean;
  readonly rateLimits?: Partial<RateLimits>;
};

/** Two vendors, and an agent in front of a gateway that may have keys at them. */
async function world(options: Options = {}) {
  const { funds = FUNDS, pooled = POOLED, storedKeys, sells = true, rateLimits } = options;
  const acme = await openAiUpstream();
  const host = await openAiUpstream();
  const flow = await streamUpstream();
  const providers: Record<string, Catalogue.ProviderEntry> = {
    acme: { baseUrl: acme.baseUrl, dialect: 'openai', apiKeyEnv: 'ACME_KEY' },
    host: { baseUrl: host.baseUrl, dialect: 'openai', apiKeyEnv: 'HOST_KEY' },
    flow: { baseUrl: flow.baseUrl, dialect: 'openai', apiKeyEnv: 'FLOW_KEY' },
    messages: { baseUrl: host.baseUrl, dialect: 'anthropic', apiKeyEnv: 'MESSAGES_KEY' },
    bare: { baseUrl: host.baseUrl, dialect: 'openai' },
  };
  const rail = 'direct-account' as const;
  const rates = pooled;
  const source = (provider: string, upstreamModel: string): Catalogue.SourceEntry => ({
    rail,
    provider,
    upstreamModel,
    rates,
  });
  const vectors = { ...source('acme', 'vendor-vectors'), rates: { text_input_token: '1' } };
  const twoDialects = [source('messages', 'm'), source('bare', 'x')];
  const models: Catalogue.ModelEntry[] = [
    { id: MODEL, modality: 'text', sources: [source('acme', 'vendor-fast')] },
    { id: HOSTED, modality: 'text', sources: [source('acme', 'a-8b'), source('host', 'h-8b')] },
    { id: 'flow/words', modality: 'text', sources: [source('flow', 'w')] },
    { id: 'acme/two-tongues', modality: 'text', sources: twoDialects },
    { id: 'acme/keyless', modality: 'text', sources: [source('bare', 'free-for-all')] },
    { id: 'acme/vectors', modality: 'embedding', sources: [vectors] },
  ];
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: funds, reference: 'start' });
  const gateway = await gatewayWorld({
    ledger,
    providers,
    models,
    secret: (name) => (sells ? `sk-of-the-server-${name}` : undefined),
    ...(storedKeys && { storedKeys }),
    ...(rateLimits && { rateLimits }),
  });
  const client = (base: string, key: string | undefined = OWN) =>
    new OpenAI({
      apiKey: AGENT_KEY,
      baseURL: base,
      maxRetries: 0,
      ...(key !== undefined && { defaultHeaders: { 'x-svc-provider-key': key } }),
    });
  return {
    acme,
    host,
    flow,
    ledger,
    gateway,
    openai: client(gateway.baseUrl),
    keyless: gateway.openai,
    llm: client(`${gateway.baseUrl}/llm`),
    ask: (model: string, headers: Record<string, string> = {}, more: object = {}) =>
      gateway.request('/chat/completions', { body: { model, messages, ...more }, headers }),
    balanced: async (consumedRaw: bigint) => {
      await expect.poll(() => ledger.openHolds()).toBe(0);
      expect(ledger.consumedRaw(AGENT)).toBe(consumedRaw);
      expect((await ledger.funds(AGENT))?.spendableRaw).toBe(funds - consumedRaw);
    },
    async [Symbol.asyncDispose]() {
      for (const part of [gateway, acme, host, flow]) await part[Symbol.asyncDispose]();
    },
  };
}

const FEE = MODEL_LIMITS.byokFeeRaw;
const brought = { 'x-svc-provider-key': OWN };

describe('a call that the caller’s own provider key pays for', () => {
  it('a call with the caller’s own provider key uses that key, costs the fixed fee, and reports both', async () => {
    await using w = await world();
    const { response } = await w.openai.chat.completions
      .create({ model: MODEL, messages })
      .withResponse();
    expect(w.acme.seen).toMatchObject([{ authorization: `Bearer ${OWN}` }]);
    expect(response.headers.get('x-svc-cost-usdc')).toBe('2000');
    expect(response.headers.get('x-svc-payment-amount')).toBe('0.002000');
    expect(response.headers.get('x-svc-payment')).toBe('byok');
    expect(response.headers.get('x-svc-rail')).toBe('byok');
    expect(w.ledger.charges).toMatchObject([
      { rail: 'byok', costRaw: FEE, model: MODEL, usage: { text_output_token: 400 } },
    ]);
    await w.balanced(FEE);
  });

  it('a call with the caller’s own provider key is sent unchanged, without an output limit of ours', async () => {
    await using w = await world({ funds: FEE });
    await w.openai.chat.completions.create({ model: MODEL, messages, temperature: 1 });
    expect(w.acme.seen[0]?.body).toEqual({ model: 'vendor-fast', messages, temperature: 1 });
    await w.balanced(FEE);
  });

  it.each([
    ['moonshot', { type: 'builtin_function', function: { name: '$web_search' } }],
    ['zai', { type: 'web_search', web_search: { enable: true } }],
  ])(
    'a call with the caller’s own provider key may use a tool that %s runs, which the pool refuses',
    async (_, tool) => {
      await using w = await world();
      const refused = await w.ask(MODEL, {}, { tools: [tool] });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { param: 'tools[0]' } });
      expect(w.acme.seen).toEqual([]);
      expect((await w.ask(MODEL, brought, { tools: [tool] })).status).toBe(200);
      expect(w.acme.seen).toMatchObject([{ body: { tools: [tool] } }]);
      await w.balanced(FEE);
    },
  );

  it('streamed chats and embeddings with the caller’s own provider key cost the same fixed fee', async () => {
    await using w = await world();
    w.flow.play({ pieces: [...wordEvents(['Good', ' morning.']), usageEvent(), DONE] });
    const stream = await w.openai.chat.completions.create({
      model: 'flow/words',
      messages,
      stream: true,
    });
    let said = '';
    for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? '';
    expect(said).toBe('Good morning.');
    await w.balanced(FEE);
    expect(w.ledger.charges).toMatchObject([
      { rail: 'byok', usage: { text_input_token: 1_200, text_output_token: 400, request: 1 } },
    ]);
    await w.openai.embeddings.create({ model: 'acme/vectors', input: 'a' });
    expect(w.acme.seen).toMatchObject([{ path: '/v1/embeddings', authorization: `Bearer ${OWN}` }]);
    await w.balanced(2n * FEE);
  });

  it('an own key is served at a provider without a server key, whose models are not listed', async () => {
    await using w = await world({ sells: false });
    await w.openai.chat.completions.create({ model: MODEL, messages });
    await w.balanced(FEE);
    expect((await w.ask(MODEL)).status).toBe(404);
    const { data } = await w.keyless.models.list();
    expect(data.map(({ id }) => id)).toEqual(['acme/two-tongues', 'acme/keyless']);
  });

  it('a stored own key is used without a header, and a key in the header comes before it', async () => {
    await using w = await world({ storedKeys: { acme: 'sk-stored' } });
    const response = await w.ask(MODEL);
    expect(response.headers.get('x-svc-payment')).toBe('byok');
    await w.ask(MODEL, brought);
    expect(w.acme.seen.map(({ authorization }) => authorization)).toEqual([
      'Bearer sk-stored',
      `Bearer ${OWN}`,
    ]);
    await w.balanced(2n * FEE);
  });

  it('a call tries every provider with a stored own key before the pool', async () => {
    await using w = await world({ storedKeys: { acme: 'sk-1', host: 'sk-2' } });
    await w.ask(HOSTED);
    expect(w.gateway.usedKeys).toEqual(['acme']);
    w.acme.faults.push({ kind: 'status', status: 401 });
    const response = await w.ask(HOSTED);
    expect(response.headers.get('x-svc-attempts')).toBe('2');
    expect(w.host.seen).toMatchObject([{ authorization: 'Bearer sk-2' }]);
    expect(w.gateway.usedKeys).toEqual(['acme', 'acme', 'host']);
    await w.balanced(2n * FEE);
  });

  it('an own key that could belong to several providers is refused, and sent to none', async () => {
    await using w = await world();
    const response = await w.ask(HOSTED, brought);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_request', param: 'x-svc-provider-key' },
    });
    expect([...w.acme.seen, ...w.host.seen]).toEqual([]);
    await w.balanced(0n);
  });

  it('a call with an own key is served by the pool when no provider of the model takes keys', async () => {
    await using w = await world();
    const response = await w.ask('acme/keyless', brought);
    expect(response.headers.get('x-svc-payment')).toBe('gateway');
    expect(w.host.seen).toMatchObject([{ authorization: undefined }]);
    await w.balanced(POOLED_COST);
  });
});

describe('an own key that does not open its provider', () => {
  it('an own-key call goes to the pool when its provider cannot express the request', async () => {
    await using w = await world();
    const response = await w.ask('acme/two-tongues', brought, { n: 2 });
    expect([response.status, response.headers.get('x-svc-payment')]).toEqual([200, 'gateway']);
    expect(w.host.seen).toMatchObject([{ path: '/v1/chat/completions', authorization: undefined }]);
    await w.balanced(POOLED_COST);
  });

  it.each([401, 403, 429, 500])('an own-key call goes to the pool after a %i', async (status) => {
    await using w = await world();
    w.acme.faults.push({ kind: 'status', status });
    const response = await w.ask(MODEL, brought);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-svc-payment')).toBe('gateway');
    expect(response.headers.get('x-svc-attempts')).toBe('2');
    expect(w.acme.seen.map(({ authorization }) => authorization)).toEqual([
      `Bearer ${OWN}`,
      'Bearer sk-of-the-server-ACME_KEY',
    ]);
    expect(w.ledger.charges).toMatchObject([
      { rail: 'byok', status: 'failed', costRaw: 0n },
      { rail: 'direct-account', status: 'success', costRaw: POOLED_COST },
    ]);
    await w.balanced(POOLED_COST);
  });

  it('an own-key refusal is relayed when the pool cannot be paid or does not sell the model', async () => {
    for (const options of [{ funds: FEE, pooled: DEAR }, { sells: false }]) {
      await using w = await world(options);
      w.acme.faults.push({ kind: 'status', status: 401, body: { error: { message: 'bad key' } } });
      const response = await w.ask(MODEL, brought);
      expect(response.status).toBe(401);
      expect(await response.json()).toEqual({ error: { message: 'bad key' } });
      expect(response.headers.get('x-svc-payment')).toBe('passthrough');
      expect(w.acme.seen).toHaveLength(1);
      await w.balanced(0n);
    }
  });

  it('an own key is masked in its provider’s relayed refusal', async () => {
    await using w = await world({ sells: false });
    const message = `Incorrect API key provided: ${OWN}. It's “${OWN}”.`;
    w.acme.faults.push({ kind: 'status', status: 401, body: { error: { message } } });
    const text = await (await w.ask(MODEL, brought)).text();
    expect(text).not.toContain(OWN);
    expect(JSON.parse(text).error.message).toBe("Incorrect API key provided: ***. It's “***”.");
  });

  it('an own-key call under an Idempotency-Key does not turn to the pool after a refusal', async () => {
    await using w = await world();
    w.acme.faults.push({ kind: 'status', status: 401 });
    const headers = { ...brought, 'idempotency-key': 'k-1' };
    expect((await w.ask(MODEL, headers)).status).toBe(401);
    expect(w.acme.seen).toHaveLength(1);
    await w.balanced(0n);
  });

  it('an own-key refusal that another account would get too is relayed without a pool attempt', async () => {
    await using w = await world();
    w.acme.faults.push({ kind: 'status', status: 422 });
    expect((await w.ask(MODEL, brought)).status).toBe(422);
    expect(w.acme.seen).toHaveLength(1);
    await w.balanced(0n);
  });

  it('an own-key refusal opens no circuit breaker, since it says nothing about other accounts', async () => {
    await using w = await world({ sells: false });
    for (let n = 0; n <= MODEL_LIMITS.upstream.restAfterFailures; n++) {
      w.acme.faults.push({ kind: 'status', status: 500 });
      expect((await w.ask(MODEL, brought)).status).toBe(502);
    }
    expect((await w.ask(MODEL, brought)).status).toBe(200);
    await w.balanced(FEE);
  });
});

describe('how often own keys may be used', () => {
  const rateLimits = { gatewayPerMinute: 2, byokPerMinute: 5 };

  it('own-key calls have a rate limit apart from the pool’s, for header keys and stored keys', async () => {
    for (const [options, headers] of [
      [{ rateLimits }, brought],
      [{ rateLimits, storedKeys: { acme: 'sk-stored' } }, {}],
    ] as const) {
      await using w = await world(options);
      const answers = [];
      for (let n = 0; n < 6; n++) answers.push(await w.ask(MODEL, headers));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
      expect(answers[0]?.headers.get('x-ratelimit-limit')).toBe('5');
    }
  });

  it('own-key calls that the pool serves count against the pool’s rate limit', async () => {
    await using w = await world({ rateLimits });
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await w.ask('acme/keyless', brought)).status);
    expect(statuses).toEqual([200, 200, 429]);
    w.acme.faults.push({ kind: 'status', status: 401 });
    expect((await w.ask(MODEL, brought)).status).toBe(401);
  });

  it('an own-key call that the pool’s rate limit refuses leaves its Idempotency-Key free for the retry', async () => {
    await using w = await world({ rateLimits: { gatewayPerMinute: 1 } });
    const headers = { ...brought, 'idempotency-key': 'k-1' };
    expect((await w.ask('acme/keyless', brought)).status).toBe(200);
    for (let n = 0; n < 2; n++) {
      const turnedAway = await w.ask('acme/keyless', headers);
      expect(turnedAway.status).toBe(429);
      expect(turnedAway.headers.get('x-idempotent-replay')).toBeNull();
    }
    const served = await w.ask(MODEL, headers);
    expect([served.status, served.headers.get('x-svc-payment')]).toEqual([200, 'byok']);
  });
});

describe('/v1/llm', () => {
  it('/v1/llm relays chat and embeddings of any model that a key opens, named with its provider', async () => {
    await using w = await world({ sells: false });
    const { data, response } = await w.llm.chat.completions
      .create({ model: 'acme/nobody-has-listed-this', messages })
      .withResponse();
    expect(data.model).toBe('nobody-has-listed-this');
    expect(response.headers.get('x-svc-payment')).toBe('byok');
    expect(response.headers.get('x-svc-cost-usdc')).toBe('2000');
    expect(w.acme.seen).toMatchObject([{ authorization: `Bearer ${OWN}` }]);
    await w.llm.embeddings.create({ model: 'acme/any-vectors', input: 'a' });
    await w.balanced(2n * FEE);
  });

  it('/v1/llm requires the key in each request, and answers errors in the flat envelope', async () => {
    await using w = await world({ storedKeys: { acme: 'sk-stored' } });
    const body = { model: MODEL, messages };
    const without = await w.gateway.request('/llm/chat/completions', { body });
    expect(without.status).toBe(400);
    expect(await without.json()).toMatchObject({
      error: 'provider_key_required',
      detail: expect.stringContaining('x-svc-provider-key'),
    });
    const unknown = { body: { model: 'nobody/x', messages }, headers: brought };
    const response = await w.gateway.request('/llm/chat/completions', unknown);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: 'model_not_found' });
    expect(w.acme.seen).toEqual([]);
    await w.balanced(0n);
  });

  it('/v1/llm does not turn to the pool, and refuses a balance below the fee before any call', async () => {
    await using w = await world({ funds: FEE - 1n });
    const request = { body: { model: MODEL, messages }, headers: brought };
    const response = await w.gateway.request('/llm/chat/completions', request);
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({
      error: 'budget_exhausted',
      scope: 'wallet',
      remaining_raw: String(FEE - 1n),
    });
    expect(w.acme.seen).toEqual([]);
    await using paid = await world();
    paid.acme.faults.push({ kind: 'status', status: 401 });
    await expect(
      paid.llm.chat.completions.create({ model: MODEL, messages }),
    ).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await paid.balanced(0n);
  });

  it('an own key in the header is sent to no other provider, whichever fallback models are requested', async () => {
    await using w = await world();
    w.flow.play({ pieces: [JSON.stringify({ choices: [{ message: { content: 'Hi.' } }] })] });
    const key = { 'x-svc-provider-key': OWN };
    for (const model of [MODEL, 'acme/none']) {
      // Of the caller's account, and of this server's.
      for (let i = 0; i < 2; i++) w.acme.faults.push({ kind: 'status', status: 500 });
      const { status } = await w.ask(model, key, { models: ['flow/words'], max_tokens: 16 });
      expect(status).toBe(200);
    }
    expect(w.flow.authorizations).toEqual(Array(2).fill('Bearer sk-of-the-server-FLOW_KEY'));
    expect(w.acme.seen.map(({ authorization }) => authorization)).toContain(`Bearer ${OWN}`);
  });
});
