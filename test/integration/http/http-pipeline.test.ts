import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ok, route } from '../../../src/http/route/route.ts';
import { gatewayErrors } from '../../../src/models/errors.ts';
import { bearer, type Edge, KEYS, startEdge } from '../../support/edge.ts';

const Item = z.object({ name: z.string().min(1).max(8), count: z.number().int().optional() });
const Id = z.object({ id: z.coerce.number().int().positive() });

const who = route()({
  method: 'GET',
  path: '/v1/developer/who',
  credential: 'management',
  summary: 'test',
  handle: ({ caller }) => ok({ via: caller.via }),
});

const ROUTES = [
  who,
  route()({
    method: 'POST',
    path: '/v1/developer/items/:id',
    credential: 'management',
    summary: 'test',
    params: Id,
    query: z.object({ mode: z.string().default('plain') }),
    body: Item,
    handle: ({ params, query, body }) => ok({ ...params, ...query, ...body }),
  }),
  route()({
    method: 'DELETE',
    path: '/v1/developer/items/:id',
    credential: 'management',
    summary: 'test',
    params: Id,
    handle: () => ok({ deleted: true }),
  }),
  route()({
    method: 'GET',
    path: '/v1/named/:name',
    credential: 'none',
    summary: 'test',
    params: z.object({ name: z.string() }),
    handle: ({ params, clientAddress }) => ok({ ...params, clientAddress }),
  }),
  route()({
    method: 'POST',
    path: '/v1/optional',
    credential: 'none',
    summary: 'test',
    body: z.object({ label: z.string().optional() }),
    handle: ({ body }) => ok({ label: body.label ?? null }),
  }),
  route()({
    method: 'POST',
    path: '/v1/gateway',
    credential: 'agent',
    summary: 'test',
    envelope: 'openai',
    rateLimit: 'gateway',
    body: Item,
    handle() {
      throw gatewayErrors.budgetExhausted({ available: '1', required: '2' });
    },
  }),
  route()({
    method: 'GET',
    path: '/v1/probe',
    credential: 'none',
    rateLimit: 'ip',
    summary: 'test',
    handle: () => ok({}),
  }),
];

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({
    routes: ROUTES,
    trustedProxies: ['127.0.0.1'],
    rateLimits: { ipPerMinute: 3, gatewayPerMinute: 3, developerKeyPerMinute: 1_000 },
  });
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
});

type Call = { method?: string; headers?: Record<string, string>; body?: string | Uint8Array };

async function call(path: string, { method = 'GET', headers = {}, body }: Call = {}) {
  const answer = await fetch(edge.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
  });
  const text = await answer.text();
  const json = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
  return { status: answer.status, headers: answer.headers, json, text };
}

const manage = (body?: string | Uint8Array): Call => ({
  method: 'POST',
  headers: bearer(KEYS.developer),
  ...(body === undefined ? {} : { body }),
});

describe('finding the route', () => {
  it('an unknown path answers 404 not_found as JSON for every method', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'DELETE']) {
      const { status, json } = await call('/v1/developer/nothing', { method });
      expect(status).toBe(404);
      expect(json).toMatchObject({ error: 'not_found', message: json?.detail });
    }
    expect((await call('/v1/nothing', { method: 'HEAD' })).status).toBe(404);
    expect((await call('/v1/developer/who/')).status).toBe(404);
  });

  it('an unknown path of the inference gateway answers 404 in OpenAI’s error envelope with the nearest route', async () => {
    const { status, json } = await call('/v1/gatewy', { method: 'POST' });
    expect(status).toBe(404);
    expect(json).toEqual({
      error: {
        message: 'There is no route POST /v1/gatewy; did you mean POST /v1/gateway?',
        type: 'invalid_request_error',
        param: null,
        code: 'not_found',
      },
    });
  });

  it('a browser preflight of an unknown path passes, so that the browser can read the 404', async () => {
    const asked = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type',
    };
    const { status, headers } = await call('/v1/gatewy', { method: 'OPTIONS', headers: asked });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-methods')).toContain('POST');
    expect(headers.get('access-control-allow-headers')).toBe('authorization, content-type');
    expect(headers.get('access-control-allow-origin')).toBe('*');

    const refused = await call('/v1/gatewy', { method: 'POST' });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      404,
      '*',
    ]);
  });

  it('a wrong method on a known path answers 405 with Allow', async () => {
    const { status, headers, json } = await call('/v1/developer/items/4', { method: 'PATCH' });
    expect(status).toBe(405);
    expect(headers.get('allow')).toBe('POST, DELETE, OPTIONS');
    expect(json?.error).toBe('method_not_allowed');
  });

  it('HEAD answers like GET with the length and no body', async () => {
    const got = await call('/v1/named/ann');
    const headed = await call('/v1/named/ann', { method: 'HEAD' });
    expect(headed.status).toBe(200);
    expect(headed.text).toBe('');
    expect(headed.headers.get('content-length')).toBe(String(got.text.length));
  });

  it('a preflight answers with the methods of the path and the requested headers', async () => {
    const { status, headers } = await call('/v1/developer/items/4', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://dashboard.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-svc-task-id',
      },
    });
    expect(status).toBe(200);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')).toContain('POST');
    expect(headers.get('access-control-allow-headers')).toBe('authorization,x-svc-task-id');
  });
});

describe('what every answer carries', () => {
  it('a response keeps a plain request id of the caller and replaces a malformed one', async () => {
    const kept = await call('/v1/named/a', { headers: { 'x-request-id': 'trace-1.2:3' } });
    expect(kept.headers.get('x-request-id')).toBe('trace-1.2:3');
    for (const bad of ['has space', 'x'.repeat(200), '"quoted"']) {
      const replaced = await call('/v1/named/a', { headers: { 'x-request-id': bad } });
      expect(replaced.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{24}$/);
    }
  });

  it('a response, also a refusal, forbids browsers to guess another media type', async () => {
    for (const path of ['/v1/named/a', '/v1/nothing']) {
      expect((await call(path)).headers.get('x-content-type-options'), path).toBe('nosniff');
    }
  });

  it('a response to a credential is kept out of every cache, and a public one is not', async () => {
    const cacheOf = async (path: string, headers = {}) =>
      (await call(path, { headers })).headers.get('cache-control');
    const session = { cookie: `svc_session=${KEYS.session}` };
    expect(await cacheOf('/v1/developer/who', session)).toBe('no-store');
    expect(await cacheOf('/v1/developer/who', bearer(KEYS.developer))).toBe('no-store');
    expect(await cacheOf('/v1/developer/who'), 'of a refusal').toBe('no-store');
    expect(await cacheOf('/v1/named/a')).toBeNull();
    expect(await cacheOf('/v1/nothing')).toBeNull();
  });

  it('a response names the API version and exposes the billing and rate headers to browsers', async () => {
    const { headers } = await call('/v1/nothing');
    expect(headers.get('x-svc-api-version')).toBe('1.0.0');
    const exposed = headers.get('access-control-expose-headers');
    for (const name of ['x-svc-cost-usdc', 'x-ratelimit-remaining', 'retry-after']) {
      expect(exposed).toContain(name);
    }
    expect(exposed).not.toContain('advisory');
  });
});

describe('input', () => {
  it('a handler gets params, query and body as its schemas parsed them', async () => {
    const { status, json } = await call(
      '/v1/developer/items/4?mode=loud&x=1',
      manage('{"name":"a"}'),
    );
    expect(status).toBe(200);
    expect(json).toEqual({ id: 4, mode: 'loud', name: 'a' });
  });

  it('invalid input answers 400 Invalid request with path, message and code of each fault', async () => {
    const { status, json } = await call('/v1/developer/items/4', manage('{"name":"","count":1.5}'));
    expect(status).toBe(400);
    expect(json?.error).toBe('Invalid request');
    expect(json?.details).toEqual([
      { path: ['name'], message: expect.any(String), code: 'too_small' },
      { path: ['count'], message: expect.any(String), code: 'invalid_type' },
    ]);
  });

  it('a path id that is not a number answers 400 and not 500', async () => {
    expect((await call('/v1/developer/items/abc', manage('{"name":"a"}'))).status).toBe(400);
  });

  it('percent-encoding in path params is decoded, and invalid escapes are refused', async () => {
    expect((await call('/v1/named/a%2Fb%20c')).json?.name).toBe('a/b c');
    const { status, json } = await call('/v1/named/%E0%A4%A');
    expect(status).toBe(400);
    expect(json?.details).toMatchObject([{ code: 'invalid_encoding' }]);
  });

  it('malformed JSON and invalid UTF-8 are refused, each with its own code', async () => {
    const malformed = await call('/v1/developer/items/4', manage('{"name":'));
    expect(malformed.json?.details).toMatchObject([{ code: 'invalid_json' }]);
    const garbled = Buffer.concat([Buffer.from('{"name":"'), Buffer.of(0xff), Buffer.from('"}')]);
    const badText = await call('/v1/developer/items/4', manage(garbled));
    expect(badText.status).toBe(400);
    expect(badText.json?.details).toMatchObject([{ code: 'invalid_utf8' }]);
  });

  it('a missing body is read as an empty object when every field is optional', async () => {
    const { status, json } = await call('/v1/optional', { method: 'POST' });
    expect([status, json]).toEqual([200, { label: null }]);
  });
});

describe('refusals of the inference gateway', () => {
  it('a gateway refusal is an OpenAI error object with our extra fields beside it', async () => {
    const agent = { method: 'POST', headers: bearer(KEYS.otherAgent) };
    const broke = await call('/v1/gateway', { ...agent, body: '{"name":"a"}' });
    expect(broke.status).toBe(402);
    expect(broke.json).toEqual({
      available: '1',
      required: '2',
      error: {
        message: 'The balance does not cover this request.',
        type: 'insufficient_quota',
        param: null,
        code: 'budget_exhausted',
      },
    });
    expect(broke.headers.get('x-should-retry')).toBeNull();
  });

  it('a gateway refusal of a bad body names the faulty parameter', async () => {
    const { status, json } = await call('/v1/gateway', {
      method: 'POST',
      headers: bearer(KEYS.otherAgent),
      body: '{"name":7}',
    });
    expect(status).toBe(400);
    expect(json?.error).toMatchObject({
      type: 'invalid_request_error',
      param: 'name',
      code: 'invalid_request',
    });
  });

  it('a gateway refusal of a developer key names the credential to use instead', async () => {
    const { status, json } = await call('/v1/gateway', manage('{}'));
    expect(status).toBe(401);
    expect(json).toMatchObject({
      error: { type: 'authentication_error', code: 'wrong_credential_type' },
      next: { method: 'POST', path: '/v1/developer/agents/{agentId}/keys' },
    });
  });

  it('a gateway 429 gives the seconds to wait in the Retry-After header and in the body', async () => {
    const agent = { method: 'POST', headers: bearer(KEYS.agent), body: '{"name":"a"}' };
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await call('/v1/gateway', agent));
    expect(answers.map(({ status }) => status)).toEqual([402, 402, 402, 429]);
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual([
      '2',
      '1',
      '0',
      '0',
    ]);
    const last = answers[3];
    const seconds = Number(last?.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(last?.json).toMatchObject({
      retry_after_seconds: seconds,
      error: { type: 'rate_limit_error', code: 'rate_limited', retry_after_seconds: seconds },
    });
  });
});

describe('rate limits of an address', () => {
  it('a rate limit by address counts per client behind a trusted proxy, and answers 429 with its body and headers', async () => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': `1.1.1.1, ${address}` } });
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push(await call('/v1/probe', from('203.0.113.9')));
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    const refused = statuses[3];
    expect(refused?.json).toMatchObject({
      error: 'rate_limit_exceeded',
      reason: 'ip_rate_limit',
      limit_per_minute: 3,
      remaining: 0,
      retry_after_seconds: Number(refused?.headers.get('retry-after')),
    });
    expect(refused?.headers.get('x-ratelimit-limit')).toBe('3');
    expect(Number(refused?.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000);

    expect((await call('/v1/probe', from('203.0.113.10'))).status).toBe(200);
  });
});

describe('a session', () => {
  it('a session cookie writes from its own origin only, and is renewed by requests', async () => {
    const cookie = `theme=dark; svc_session=${KEYS.ageingSession}`;
    const own = await call('/v1/developer/items/1', {
      ...manage('{"name":"a"}'),
      headers: { cookie, origin: edge.url },
    });
    expect(own.status).toBe(200);
    expect(own.headers.get('set-cookie')).toBe(
      `svc_session=${KEYS.renewedSession}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800`,
    );

    const foreign = await call('/v1/developer/items/1', {
      ...manage('{"name":"a"}'),
      headers: { cookie, origin: 'https://evil.example' },
    });
    expect([foreign.status, foreign.json?.error]).toEqual([403, 'forbidden']);
    const reading = await call('/v1/developer/who', {
      headers: { cookie, origin: 'https://evil.example' },
    });
    expect(reading.json).toEqual({ via: 'session' });
  });
});

describe('an idempotent route', () => {
  it('an edge with an idempotent route but no store for its keys refuses to start', async () => {
    const buy = route()({
      method: 'POST',
      path: '/v1/buy',
      credential: 'agent',
      summary: 'test',
      idempotent: true,
      handle: () => ok({}),
    });
    await expect(startEdge({ routes: [buy] })).rejects.toThrow(/Idempotency-Key/);
  });
});
