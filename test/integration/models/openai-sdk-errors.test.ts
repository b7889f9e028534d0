import OpenAI from 'openai';
import { beforeEach, describe, expect, it } from 'vitest';
import { countedOpenAi, thrownBy } from '../../support/counted-openai.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import {
  FLOODING,
  PENNILESS,
  PER_MINUTE,
  READER,
  refusingWorld,
  SUSPENDED,
} from '../../support/refused-callers.ts';
import { wholeAnswer } from '../../support/stream-upstream.ts';
import type { StreamWorld } from '../../support/stream-world.ts';

const AGENT = 1;
const MODEL = 'acme/fast-1';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];

let gateway: StreamWorld['gateway'];
let ledger: StreamWorld['ledger'];
let upstream: StreamWorld['upstream'];

beforeEach(async () => {
  const world = await refusingWorld();
  ({ gateway, ledger, upstream } = world);
  return () => world[Symbol.asyncDispose]();
});

type Wish = Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>;
type Asking = { readonly apiKey?: string; readonly wanted?: Wish } & OpenAI.RequestOptions;

/** What the client threw with its own number of retries, how often it asked, and how often that reached the upstream. */
async function failing({ apiKey = AGENT_KEY, wanted, ...options }: Asking) {
  const { openai, sent } = countedOpenAi({ apiKey, baseURL: gateway.baseUrl });
  const before = upstream.seen.length;
  const error = await thrownBy(
    openai.chat.completions.create({ model: MODEL, messages, ...wanted }, options),
  );
  return { error, requests: sent.length, bought: upstream.seen.length - before };
}

const relays = (status: number, headers: Record<string, string> = {}) =>
  upstream.play({
    status,
    headers: { 'content-type': 'application/json', ...headers },
    pieces: [JSON.stringify({ error: { message: 'as told', type: 'server_error', code: 'told' } })],
  });

describe('a refusal of this server', () => {
  it.each([
    [
      'a request that is none',
      { wanted: { messages: [] } },
      OpenAI.BadRequestError,
      400,
      'invalid_request',
    ],
    [
      'a key that is none',
      { apiKey: `svc_${'0'.repeat(64)}` },
      OpenAI.AuthenticationError,
      401,
      'invalid_api_key',
    ],
    [
      'a balance that does not reach',
      { apiKey: PENNILESS },
      OpenAI.APIError,
      402,
      'budget_exhausted',
    ],
    [
      'a key that may only read',
      { apiKey: READER },
      OpenAI.PermissionDeniedError,
      403,
      expect.any(String),
    ],
    [
      'an agent that is suspended',
      { apiKey: SUSPENDED },
      OpenAI.PermissionDeniedError,
      403,
      expect.any(String),
    ],
    [
      'a model that is none',
      { wanted: { model: 'acme/none' } },
      OpenAI.NotFoundError,
      404,
      'model_not_found',
    ],
  ])(
    'the openai client throws our refusal of %s as its own class, after one request, and is charged nothing',
    async (_, asking, kind, status, code) => {
      const { error, requests, bought } = await failing(asking);
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ status, code });
      expect([requests, bought]).toEqual([1, 0]);
      expect(ledger.charges).toEqual([]);
    },
  );

  it.each(['sk-of-another-vendor', 'svc_cut-off'])(
    'the openai client throws AuthenticationError for the key %s on every route',
    async (apiKey) => {
      const { openai } = countedOpenAi({ apiKey, baseURL: gateway.baseUrl });
      const calls = [
        () => openai.models.list(),
        () => openai.models.retrieve(MODEL),
        () => openai.chat.completions.create({ model: MODEL, messages, stream: true }),
        () => openai.embeddings.create({ model: MODEL, input: 'x' }),
        () => openai.audio.speech.create({ model: MODEL, input: 'x', voice: 'alloy' }),
      ];
      for (const call of calls) {
        const error = await thrownBy(call());
        expect(error).toBeInstanceOf(OpenAI.AuthenticationError);
        expect(error).toMatchObject({ code: 'invalid_api_key', type: 'authentication_error' });
      }
    },
  );

  it('the openai client throws ConflictError once for an Idempotency-Key that another request has used', async () => {
    const { openai, sent } = countedOpenAi({ apiKey: AGENT_KEY, baseURL: gateway.baseUrl });
    const options = { headers: { 'idempotency-key': 'k' } };
    await openai.chat.completions.create({ model: MODEL, messages }, options);
    const wanted = { model: MODEL, input: 'x', voice: 'alloy' };
    const error = await thrownBy(openai.audio.speech.create(wanted, options));
    expect(error).toBeInstanceOf(OpenAI.ConflictError);
    expect(error).toMatchObject({ code: 'idempotency_key_reused' });
    expect(sent).toHaveLength(2);
    expect(ledger.charges).toHaveLength(1);
  });

  it('the openai client gets a rate limit error with the seconds to wait', async () => {
    const { openai, sent } = countedOpenAi({
      apiKey: FLOODING,
      baseURL: gateway.baseUrl,
      maxRetries: 0,
    });
    const calls = Array.from({ length: PER_MINUTE + 5 }, () =>
      openai.chat.completions.create({ model: MODEL, messages }).catch((error: unknown) => error),
    );
    const refused = (await Promise.all(calls)).filter((told) => told instanceof OpenAI.APIError);
    expect(refused).toHaveLength(5);
    for (const error of refused) {
      expect(error).toBeInstanceOf(OpenAI.RateLimitError);
      expect(error).toMatchObject({ code: 'rate_limited', type: 'rate_limit_error' });
      expect(error.headers?.get('retry-after')).toMatch(/^\d+$/);
      expect(error.headers?.get('x-should-retry')).toBe('true');
    }
    expect(sent).toHaveLength(PER_MINUTE + 5);
  });

  it.each([
    [500, OpenAI.InternalServerError, 502, 'all_sources_failed'],
    [503, OpenAI.InternalServerError, 502, 'all_sources_failed'],
    [429, OpenAI.RateLimitError, 429, 'upstream_rate_limited'],
  ])(
    'the openai client retries when the only source answers %i, gets its Retry-After, and is charged nothing',
    async (upstreamStatus, kind, status, code) => {
      relays(upstreamStatus, { 'retry-after': '1' });
      const { error, requests, bought } = await failing({ maxRetries: 1 });
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ status, code });
      expect(error.headers?.get('x-should-retry')).toBe('true');
      expect(error.headers?.get('retry-after')).toBe('1');
      expect([requests, bought]).toEqual([2, 2]);
      expect(ledger.consumedRaw(AGENT)).toBe(0n);
      expect(ledger.openHolds()).toBe(0);
    },
  );

  it.each([500, 503, 429])(
    'the openai client recovers by a retry from one passing %i of the upstream, and pays once',
    async (status) => {
      const { openai, sent } = countedOpenAi({ apiKey: AGENT_KEY, baseURL: gateway.baseUrl });
      const answer = wholeAnswer({ content: 'Good morning.' });
      let asked = 0;
      upstream.play(() =>
        asked++ === 0 ? { status, headers: { 'retry-after': '1' }, pieces: [] } : answer,
      );
      const completion = await openai.chat.completions.create({ model: MODEL, messages });
      expect(completion.choices[0]?.message.content).toBe('Good morning.');
      expect([sent.length, asked]).toEqual([2, 2]);
      expect(ledger.charges.filter(({ costRaw }) => costRaw > 0n)).toHaveLength(1);
      expect(ledger.openHolds()).toBe(0);
    },
  );

  it('the openai client’s retry after a passing failure is served under the same Idempotency-Key, and pays once', async () => {
    const { openai, sent } = countedOpenAi({ apiKey: AGENT_KEY, baseURL: gateway.baseUrl });
    const answer = wholeAnswer({ content: 'Good morning.' });
    let asked = 0;
    upstream.play(() => (asked++ === 0 ? { status: 500, pieces: [] } : answer));
    const completion = await openai.chat.completions.create(
      { model: MODEL, messages },
      { headers: { 'idempotency-key': 'once' } },
    );
    expect(completion.choices[0]?.message.content).toBe('Good morning.');
    expect([sent.length, asked]).toEqual([2, 2]);
    expect(ledger.charges.filter(({ costRaw }) => costRaw > 0n)).toHaveLength(1);
  });
});

describe('a refusal of the upstream', () => {
  it.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [422, OpenAI.UnprocessableEntityError],
  ])(
    'the openai client throws the upstream’s refusal %i unchanged, after one request, and is not charged',
    async (status, kind) => {
      relays(status);
      const { error, requests } = await failing({});
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ status, code: 'told', type: 'server_error' });
      expect(error.headers?.get('x-svc-payment')).toBe('passthrough');
      expect(requests).toBe(1);
      expect(ledger.consumedRaw(AGENT)).toBe(0n);
    },
  );

  it('the openai client retries an upstream’s 409 as often as configured, and is charged nothing', async () => {
    relays(409);
    for (const maxRetries of [0, 1]) {
      const { error, requests, bought } = await failing({ maxRetries });
      expect(error).toBeInstanceOf(OpenAI.ConflictError);
      expect([requests, bought]).toEqual([maxRetries + 1, maxRetries + 1]);
    }
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
    expect(ledger.openHolds()).toBe(0);
  });
});

describe('a server that is not there', () => {
  it('the openai client throws a connection error when the server is absent', async () => {
    const { openai, sent } = countedOpenAi({
      apiKey: AGENT_KEY,
      baseURL: 'http://127.0.0.1:1/v1',
      maxRetries: 1,
    });
    const call = openai.chat.completions.create({ model: MODEL, messages });
    expect(await thrownBy(call)).toBeInstanceOf(OpenAI.APIConnectionError);
    expect(sent).toHaveLength(2);
  });
});
