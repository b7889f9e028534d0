import { afterEach, describe, expect, it } from 'vitest';
import { ok, route } from '../../../src/http/route/route.ts';
import { socketRoute } from '../../../src/http/route/socket-route.ts';
import { clientAt } from '../../support/ask-from.ts';
import { bearer, fakeCredentials, KEYS, startEdge } from '../../support/edge.ts';
import { refusal, TestSocket } from '../../support/web-socket-client.ts';

const markets = route()({
  method: 'GET',
  path: '/v1/markets',
  credential: 'none',
  summary: 'test',
  handle: () => ok({ markets: [] }),
});
const me = route()({
  method: 'GET',
  path: '/v1/agents/me',
  credential: 'agent',
  summary: 'test',
  handle: () => ok({}),
});
const operate = route()({
  method: 'GET',
  path: '/v1/admin/agents',
  credential: 'admin',
  summary: 'test',
  handle: () => ok({}),
});
const metrics = route()({
  method: 'GET',
  path: '/metrics',
  credential: 'admin',
  summary: 'test',
  handle: () => ok({}),
});
const health = route()({
  method: 'GET',
  path: '/v1/health',
  credential: 'none',
  summary: 'test',
  handle: () => ok({}),
});
const ROUTES = [markets, me, operate, metrics, health];

/** Looks agent keys up in a database that counts how often it is asked; remembers none but `KEYS.agent`. */
const lookups = { made: 0 };
const credentials = {
  ...fakeCredentials,
  rememberedAgent: (key: string) =>
    key === KEYS.agent ? fakeCredentials.rememberedAgent(key) : undefined,
  async agentKey(key: string) {
    lookups.made += 1;
    return fakeCredentials.agentKey(key);
  },
};

afterEach(() => {
  lookups.made = 0;
});

const STRANGER = '127.0.0.2';
const CUSTOMER = '127.0.0.3';

it('a flood of requests without a credential limits its own address, and no caller with a key', async () => {
  await using edge = await startEdge({
    routes: ROUTES,
    credentials,
    rateLimits: { anonymousRequests: { burst: 100, perMinute: 60 } },
  });
  await using stranger = clientAt(STRANGER, edge.port);
  await using customer = clientAt(CUSTOMER, edge.port);
  const flood = await Promise.all(Array.from({ length: 500 }, () => stranger.ask('/v1/markets')));
  const passed = flood.filter(({ status }) => status === 200).length;
  expect(passed).toBeGreaterThanOrEqual(100);
  expect(passed).toBeLessThan(110);

  const refused = await stranger.ask('/v1/markets');
  expect(refused.status).toBe(429);
  expect(JSON.parse(refused.body)).toMatchObject({
    error: 'rate_limit_exceeded',
    reason: 'ip_rate_limit',
    limit_per_minute: 60,
  });
  expect(refused.headers).toMatchObject({
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '0',
  });
  // The bucket refills all the time: there is no minute to wait out.
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(2);

  expect((await customer.ask('/v1/markets')).status).toBe(200);
  for (const client of [stranger, customer]) {
    expect((await client.ask('/v1/agents/me', bearer(KEYS.agent))).status).toBe(200);
    expect((await client.ask('/v1/agents/me', bearer(KEYS.otherAgent))).status).toBe(200);
    expect((await client.ask('/v1/admin/agents', bearer(KEYS.admin))).status).toBe(200);
    expect((await client.ask('/v1/health')).status).toBe(200);
  }
});

it('each of a hundred anonymous addresses, a late one too, gets its own share of the limit, and callers keep theirs', async () => {
  await using edge = await startEdge({
    routes: ROUTES,
    credentials,
    trustedProxies: ['127.0.0.1'],
    rateLimits: { globalPerMinute: 300, leastShares: { funded: 9, free: 9, anonymous: 2 } },
  });
  await using proxy = clientAt('127.0.0.1', edge.port);
  const from = (n: number) => ({ 'x-forwarded-for': `203.0.113.${n}` });
  const flood = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) => proxy.ask('/v1/markets', from(n % 100))),
  );
  expect(flood.filter(({ status }) => status === 200)).toHaveLength(300);
  const last = flood.find(({ status }) => status === 429);
  expect(JSON.parse(last?.body ?? '')).toMatchObject({
    reason: 'global_rate_limit',
    limit_per_minute: 3,
    remaining: 0,
  });

  expect((await proxy.ask('/v1/markets', from(200))).status).toBe(200);
  const asCaller = { ...from(201), ...bearer(KEYS.otherAgent) };
  expect((await proxy.ask('/v1/agents/me', asCaller)).status).toBe(200);
});

it('wrong keys are looked up only as often as their address may fail, and good keys do not count', async () => {
  await using edge = await startEdge({
    routes: ROUTES,
    credentials,
    rateLimits: { failedCredentials: { burst: 20, perMinute: 60 } },
  });
  await using stranger = clientAt(STRANGER, edge.port);
  await using customer = clientAt(CUSTOMER, edge.port);
  for (let i = 0; i < 60; i++) {
    const answer = await customer.ask('/v1/agents/me', bearer(KEYS.otherAgent));
    expect(answer.status).toBe(200);
  }
  lookups.made = 0;
  const guesses = await Promise.all(
    Array.from({ length: 200 }, (_, n) => stranger.ask('/v1/agents/me', bearer(`svc_${n}`))),
  );
  expect(lookups.made).toBeLessThan(25);
  expect(guesses.filter(({ status }) => status === 401)).toHaveLength(lookups.made);
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(200 - lookups.made);

  expect((await stranger.ask('/v1/agents/me', bearer(KEYS.agent))).status).toBe(200);
  expect((await customer.ask('/v1/agents/me', bearer(KEYS.otherAgent))).status).toBe(200);
});

it('a known good key is never refused because of wrong keys from its address', async () => {
  await using edge = await startEdge({
    routes: ROUTES,
    credentials,
    rateLimits: { failedCredentials: { burst: 20, perMinute: 1 } },
  });
  await using office = clientAt(STRANGER, edge.port);
  const ask = (key: string) => office.ask('/v1/agents/me', bearer(key));
  expect((await ask(KEYS.otherAgent)).status).toBe(200);
  const guesses = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(`svc_${n}`)));
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(20);
  expect((await ask(KEYS.otherAgent)).status).toBe(200);
});

it.each([
  ['no credential', {}],
  ['a credential of another kind', bearer(KEYS.developer)],
])('a request with %s on an agent route counts as a failed credential', async (_what, headers) => {
  await using edge = await startEdge({
    routes: ROUTES,
    credentials,
    rateLimits: { failedCredentials: { burst: 20, perMinute: 1 } },
  });
  await using stranger = clientAt(STRANGER, edge.port);
  const asked = Array.from({ length: 50 }, () => stranger.ask('/v1/agents/me', headers));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(20);
  expect(statuses.filter((status) => status === 429)).toHaveLength(30);
});

it('guesses of the admin key are limited on every admin route, and the operator is never locked out', async () => {
  await using edge = await startEdge({
    routes: ROUTES,
    credentials,
    rateLimits: { failedCredentials: { burst: 20, perMinute: 60 } },
  });
  await using stranger = clientAt(STRANGER, edge.port);
  for (const path of ['/metrics', '/v1/admin/agents']) {
    const guesses = await Promise.all(
      Array.from({ length: 100 }, (_, n) => stranger.ask(path, bearer(`guess-${n}`))),
    );
    expect(guesses.filter(({ status }) => status === 401).length).toBeLessThan(25);
    expect((await stranger.ask(path, bearer(KEYS.admin))).status).toBe(200);
  }
});

describe('limits that no route has of its own', () => {
  it('a wrong key at a socket upgrade counts as a failed credential, as on a route', async () => {
    const socket = socketRoute()({
      path: '/v1/live',
      credential: 'agent',
      summary: 'test',
      authenticateFrom: ['bearer'],
      protocols: [],
      open: () => ({ opened() {}, message() {}, closed() {} }),
    });
    await using small = await startEdge({
      sockets: [socket],
      rateLimits: { failedCredentials: { burst: 2, perMinute: 1 }, gatewayPerMinute: 9 },
    });
    const ask = (key: string) => refusal(`ws://127.0.0.1:${small.port}/v1/live`, [], bearer(key));
    expect((await ask('svc_wrong')).status).toBe(401);
    expect((await ask('svc_wrong')).status).toBe(401);
    expect(await ask('svc_wrong')).toMatchObject({
      status: 429,
      body: { reason: 'ip_rate_limit' },
    });
    const open = new TestSocket(`ws://127.0.0.1:${small.port}/v1/live`, [], bearer(KEYS.agent));
    await open.opened();
    open.ws.close(1000);
  });

  it('a caller beyond its limit on routes without their own limit is refused, and other callers are not', async () => {
    await using small = await startEdge({
      routes: ROUTES,
      rateLimits: { callerPerMinute: 5 },
    });
    const ask = async (key: string) => {
      const answer = await fetch(`${small.url}/v1/agents/me`, { headers: bearer(key) });
      const limit = answer.headers.get('x-ratelimit-limit');
      return { status: answer.status, body: await answer.json(), limit };
    };
    for (let i = 0; i < 5; i++) expect((await ask(KEYS.agent)).status).toBe(200);
    for (let i = 0; i < 30; i++) {
      const refused = await ask(KEYS.agent);
      expect(refused.status).toBe(429);
      expect(refused.body).toMatchObject({ reason: 'agent_control_limit' });
      expect(refused.limit).toBe('5');
    }
    expect((await ask(KEYS.otherAgent)).status).toBe(200);
  });

  it('the server-wide rate limit refuses with its own headers, and spares the operator and the health probe', async () => {
    const counted = route()({
      method: 'GET',
      path: '/v1/counted',
      credential: 'agent',
      summary: 'test',
      rateLimit: 'proxy',
      handle: () => ok({}),
    });
    await using small = await startEdge({
      routes: [...ROUTES, counted],
      rateLimits: { globalPerMinute: 2, leastShares: { funded: 1, free: 1, anonymous: 1 } },
    });
    const ask = (path: string, key: string) => fetch(small.url + path, { headers: bearer(key) });
    const first = await ask('/v1/counted', KEYS.agent);
    expect([first.status, first.headers.get('x-ratelimit-limit')]).toEqual([200, '3000']);
    expect((await ask('/v1/agents/me', KEYS.agent)).status).toBe(200);
    for (const path of ['/v1/counted', '/v1/agents/me']) {
      const refused = await ask(path, KEYS.agent);
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ reason: 'global_rate_limit', remaining: 0 });
      const { headers } = refused;
      expect(headers.get('x-ratelimit-limit')).toBe('2');
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
      const leftMs = Number(headers.get('x-ratelimit-reset')) * 1_000 - Date.now();
      expect(leftMs).toBeGreaterThan(0);
      expect(leftMs).toBeLessThanOrEqual(61_000);
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
    expect((await fetch(`${small.url}/v1/health`)).status).toBe(200);
    expect((await ask('/v1/admin/agents', KEYS.admin)).status).toBe(200);
  });
});
