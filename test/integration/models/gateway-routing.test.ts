import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFakeLedger, type FakeLedger } from '../../support/fake-ledger.ts';
import { type GatewayWorld, gatewayWorld } from '../../support/gateway-world.ts';
import { type OpenAiUpstream, openAiUpstream, SHORT_USAGE } from '../../support/openai-upstream.ts';

const AGENT = 1;
const FUNDS = 1_000_000n;
const messages = [{ role: 'user' as const, content: 'Good morning?' }];

let cheap: OpenAiUpstream;
let dear: OpenAiUpstream;
let ledger: FakeLedger;
let gateway: GatewayWorld;

beforeAll(async () => {
  cheap = await openAiUpstream();
  dear = await openAiUpstream();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await cheap[Symbol.asyncDispose]();
  await dear[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await gateway?.[Symbol.asyncDispose]();
  for (const upstream of [cheap, dear]) {
    upstream.seen.length = 0;
    upstream.faults.length = 0;
    upstream.usage = SHORT_USAGE;
  }
  ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const source = (provider: string, text: string) =>
    ({
      rail: 'direct-account',
      provider,
      upstreamModel: `${provider}-model`,
      rates: { text_input_token: text, text_output_token: '10' },
    }) as const;
  gateway = await gatewayWorld({
    ledger,
    providers: {
      cheap: { baseUrl: cheap.baseUrl, dialect: 'openai' },
      dear: { baseUrl: dear.baseUrl, dialect: 'openai' },
      gone: { baseUrl: 'http://127.0.0.1:1/v1', dialect: 'openai' },
    },
    models: [
      { id: 'acme/both', modality: 'text', sources: [source('cheap', '2'), source('dear', '4')] },
      {
        id: 'acme/long',
        modality: 'text',
        sources: [
          {
            ...source('cheap', '2'),
            longPrompt: { above: 100, inputPercent: 500, outputPercent: 100 },
          },
        ],
      },
      { id: 'acme/gone', modality: 'text', sources: [source('gone', '1')] },
      { id: 'acme/other', modality: 'text', sources: [source('dear', '4')] },
      {
        id: 'acme/voice',
        modality: 'tts',
        sources: [{ ...source('dear', '4'), rates: { character: '1' } }],
      },
    ],
  });
});

async function chat(more: object, headers: Record<string, string> = {}) {
  const body = { model: 'acme/both', messages, max_tokens: 16, ...more };
  const response = await gateway.request('/chat/completions', { body, headers });
  const told = (name: string) => response.headers.get(`x-svc-${name}`);
  return {
    status: response.status,
    provider: told('provider'),
    model: told('model'),
    fallbacks: told('fallbacks'),
    attempts: told('attempts'),
    costRaw: told('cost-usdc'),
    json: (await response.json()) as { error?: { message: string; param: string; code: string } },
  };
}

const balanced = async () => {
  expect(ledger.openHolds()).toBe(0);
  const funds = await ledger.funds(AGENT);
  expect((funds?.spendableRaw ?? 0n) + ledger.consumedRaw(AGENT)).toBe(FUNDS);
};

describe('the providers that a caller wishes', () => {
  it('preferred providers are called in the caller’s order, and the others after them', async () => {
    expect(await chat({ provider: { order: ['dear'] } })).toMatchObject({
      provider: 'dear',
      attempts: null,
    });
    dear.faults.push({ kind: 'status', status: 500 });
    expect(await chat({ provider: { order: ['dear'] } })).toMatchObject({
      provider: 'cheap',
      attempts: '2',
    });
    await balanced();
  });

  it('providers are limited by the caller’s only and ignore lists', async () => {
    for (const provider of [
      { only: ['dear'] },
      { ignore: ['cheap'] },
      { order: ['dear'], allow_fallbacks: false },
    ]) {
      cheap.seen.length = 0;
      expect(await chat({ provider })).toMatchObject({ status: 200, provider: 'dear' });
      dear.faults.push({ kind: 'status', status: 500 });
      expect((await chat({ provider })).status).toBe(502);
      expect(cheap.seen).toEqual([]);
    }
    await balanced();
  });

  it('providers above the caller’s max_price, margin included, are not called', async () => {
    const priced = (prompt: string | number) => ({ max_price: { prompt } });
    expect(await chat({ ...priced(2.1), provider: { order: ['dear'] } })).toMatchObject({
      provider: 'cheap',
    });
    expect(await chat({ provider: { order: ['dear'], ...priced('4.2') } })).toMatchObject({
      provider: 'dear',
    });
    expect(await chat(priced(2.09))).toMatchObject({
      status: 400,
      json: { error: { param: 'max_price', code: 'invalid_request' } },
    });
    expect(await chat({ max_price: { completion: 10.4 } })).toMatchObject({ status: 400 });
    expect(await chat({ max_price: { request: 0 } })).toMatchObject({ status: 200 });
  });

  it('max_price is compared with the rates for a prompt of this length', async () => {
    const long = [{ role: 'user', content: 'x'.repeat(300) }];
    const model = 'acme/long';
    expect(await chat({ model, max_price: { prompt: 2.1 } })).toMatchObject({ status: 200 });
    expect(await chat({ model, max_price: { prompt: 2.1 }, messages: long })).toMatchObject({
      status: 400,
      json: { error: { param: 'max_price' } },
    });
    expect(await chat({ model, max_price: { prompt: 10.5 }, messages: long })).toMatchObject({
      status: 200,
    });
  });

  it('routing preferences never reach an upstream as fields of its request', async () => {
    const wishes = {
      provider: { order: ['cheap'] },
      models: ['acme/other'],
      max_price: { prompt: 9 },
    };
    await chat({ ...wishes, usage: { include: true } });
    expect(Object.keys(cheap.seen[0]?.body ?? {}).sort()).toEqual([
      'max_tokens',
      'messages',
      'model',
    ]);
  });

  it('routing preferences that leave no source, or are invalid, are refused with a helpful message', async () => {
    const { json } = await chat({ provider: { only: ['nobody'] } });
    expect(json.error).toMatchObject({
      message: 'provider leaves no source of "acme/both", which is served by cheap, dear.',
      param: 'provider',
    });
    for (const wish of [
      { provider: { data_collection: 'deny' } },
      { provider: { allow_fallbacks: false } },
      { provider: { order: Array(33).fill('x') } },
      { max_price: { prompt: '0.1234567' } },
      { max_price: { prompt: -1 } },
      { max_price: 3 },
      { models: Array(9).fill('acme/other') },
      { usage: { include: 'yes' } },
    ]) {
      expect(await chat(wish), JSON.stringify(wish)).toMatchObject({ status: 400 });
    }
    expect([...cheap.seen, ...dear.seen]).toEqual([]);
  });
});

describe('the models that a caller wishes', () => {
  it('fallback models are called in turn, and the receipt names the one that answered and why the others did not', async () => {
    const models = ['acme/none\u00a0', 'acme/voice', 'acme/both', 'acme/other'];
    expect(await chat({ model: 'acme/gone', models })).toMatchObject({
      status: 200,
      model: 'acme/both',
      provider: 'cheap',
      fallbacks: 'acme/gone=unreachable, acme/none_=model_not_found, acme/voice=invalid_request',
    });
    expect(ledger.charges.filter(({ status }) => status === 'success')).toMatchObject([
      { model: 'acme/both' },
    ]);
    await balanced();
  });

  it('fallback models follow when every source failed or is in backoff, and all attempts are counted', async () => {
    for (const upstream of [cheap, dear]) upstream.faults.push({ kind: 'status', status: 503 });
    expect(await chat({ models: ['acme/other'] })).toMatchObject({
      status: 200,
      model: 'acme/other',
      attempts: '3',
      fallbacks: 'acme/both=broken',
    });
    await balanced();
  });

  it('fallback models do not follow an upstream’s refusal of the request, or an insufficient balance', async () => {
    cheap.faults.push({ kind: 'status', status: 422 });
    expect(await chat({ models: ['acme/other'] })).toMatchObject({ status: 422, fallbacks: null });
    await ledger.hold({
      spender: { agentId: AGENT },
      holdId: 'rest',
      amountRaw: FUNDS - 10n,
      destination: 'x',
    } as never);
    expect(await chat({ models: ['acme/other'] })).toMatchObject({ status: 402 });
    expect(dear.seen).toEqual([]);
  });

  it('fallback models that are all unavailable end with the last refusal, and nothing is held or charged', async () => {
    const { json, status } = await chat({ model: 'acme/gone', models: ['acme/none'] });
    expect([status, json.error?.code]).toEqual([404, 'model_not_found']);
    await balanced();
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
  });

  it('fallback models under an Idempotency-Key follow only before a hold was opened', async () => {
    const models = ['acme/both'];
    const failed = await chat({ model: 'acme/gone', models }, { 'idempotency-key': 'k1' });
    expect(failed.status).toBe(502);
    const unknown = await chat({ model: 'acme/none', models }, { 'idempotency-key': 'k2' });
    expect(unknown).toMatchObject({ status: 200, model: 'acme/both' });
    await balanced();
  });
});

describe('the wishes of a caller', () => {
  it.each([
    ['/messages', { messages, max_tokens: 16 }],
    ['/responses', { input: 'Good morning?', max_output_tokens: 16 }],
  ])('routing preferences work at %s as for a chat, and are not forwarded', async (path, asked) => {
    const wishes = {
      models: ['acme/both'],
      provider: { order: ['dear'] },
      max_price: { prompt: 9 },
    };
    const body = { model: 'acme/gone', ...asked, ...wishes };
    const response = await gateway.request(path, { body });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-svc-model': 'acme/both',
      'x-svc-provider': 'dear',
      'x-svc-fallbacks': 'acme/gone=unreachable',
    });
    expect(Object.keys(dear.seen[0]?.body ?? {}).filter((name) => name in wishes)).toEqual([]);
    await response.text();
    await balanced();
  });
});

describe('the price in the answer', () => {
  it('the price in usage reaches the OpenAI SDK, and equals the cost header', async () => {
    const wish = { usage: { include: true } } as object;
    const { data, response } = await gateway.openai.chat.completions
      .create({ model: 'acme/both', messages, max_tokens: 16, ...wish })
      .withResponse();
    const { cost_raw: costRaw, ...usage } = data.usage as OpenAI.CompletionUsage & {
      cost_raw?: string;
    };
    expect(usage).toEqual(SHORT_USAGE);
    expect(costRaw).toBe(response.headers.get('x-svc-cost-usdc'));
    expect(BigInt(costRaw ?? 0)).toBe(ledger.consumedRaw(AGENT));
    cheap.usage = undefined;
    const bare = await chat(wish);
    expect((bare.json as { usage?: object }).usage).toEqual({ cost_raw: bare.costRaw });
  });

  it('the price is in usage only when requested', async () => {
    expect((await chat({})).json).not.toHaveProperty('usage.cost_raw');
  });
});
