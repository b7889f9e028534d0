import type { HttpRequest } from 'uWebSockets.js';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAuthenticate } from '../../../../src/http/auth/authenticate.ts';
import { BodyBudget } from '../../../../src/http/body/body-budget.ts';
import { commonHeaders, privateHeaders } from '../../../../src/http/pipeline/output-headers.ts';
import { requestErrors } from '../../../../src/http/route/errors.ts';
import { ok, route, streamedBody } from '../../../../src/http/route/route.ts';
import { createHttpMetrics } from '../../../../src/http/server/http-metrics.ts';
import { createMetrics } from '../../../../src/http/server/metrics.ts';
import { createRequestIds } from '../../../../src/http/server/request-id.ts';
import { createRouter } from '../../../../src/http/server/router.ts';
import { type Endpoint, serveRequest } from '../../../../src/http/server/serve-request.ts';
import { createStrangerGate } from '../../../../src/http/server/stranger-gate.ts';
import { createUnknownRoute } from '../../../../src/http/server/unknown-route.ts';
import type { IdempotencyStore } from '../../../../src/idempotency/idempotency.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { BodyTooLarge, SendFailed } from '../../../../src/platform/egress/send-failed.ts';
import { createRateGate, DEFAULT_RATE_LIMITS } from '../../../../src/rate-limit/rate-gate.ts';
import { createRateLimiter } from '../../../../src/rate-limit/rate-limit.ts';
import { SignInNetworks } from '../../../../src/rate-limit/sign-in-networks.ts';
import { bearer, fakeCredentials, KEYS } from '../../../support/edge.ts';
import { FakeResponse } from '../../../support/fake-response.ts';
import { logLines } from '../../../support/log-lines.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { strangersOf } from '../../../support/strangers.ts';

const buy = route()({
  method: 'POST',
  path: '/v1/buy',
  credential: 'agent',
  summary: 'test',
  rateLimit: 'gateway',
  idempotent: true,
  body: z.object({ what: z.string() }),
  handle: ({ body, clientAddress }) =>
    ({ ...ok({ bought: body.what, clientAddress }), upstreamMs: 4 }) as const,
});

/** Adds up a body as it arrives, and has enough of it at an `x`. */
const sum = route()({
  method: 'POST',
  path: '/v1/sum',
  credential: 'agent',
  summary: 'test',
  rateLimit: 'ledger',
  idempotent: true,
  body: streamedBody('text/plain'),
  maxBodyBytes: 8,
  async handle({ body }) {
    let bytes = 0;
    for await (const chunk of body) {
      if (chunk.includes(120)) throw requestErrors.invalidBody('no x, please');
      bytes += chunk.length;
    }
    return ok({ bytes });
  },
});

async function* cutOff(failure: Error) {
  yield Buffer.from('ab');
  throw failure;
}

/** Keeps answers in a map; what the database-backed store will do. */
function memoryStore(): IdempotencyStore & { readonly log: string[] } {
  const kept = new Map<string, Parameters<typeof remember>[1]>();
  const log: string[] = [];
  const remember = (
    key: string,
    answer: import('../../../../src/http/route/answer.ts').HttpAnswer,
  ) => {
    log.push(`store ${answer.status}`);
    kept.set(key, answer);
    return answer;
  };
  return {
    log,
    async begin({ key }) {
      const answer = kept.get(key);
      if (answer !== undefined) return { kind: 'replay', answer };
      return {
        kind: 'fresh',
        workId: `work ${key}`,
        store: async (fresh) => remember(key, fresh),
        abandon: async () => void log.push('abandon'),
      };
    },
  };
}

function edge(gatewayPerMinute = 100, other: Partial<Parameters<typeof serveRequest>[0]> = {}) {
  const clock = new ManualClock();
  const idempotency = memoryStore();
  const limiter = createRateLimiter(clock);
  const metrics = createMetrics({ withProcess: false });
  const strangers = strangersOf(clock);
  const signIns = new SignInNetworks();
  const limits = { ...DEFAULT_RATE_LIMITS, gatewayPerMinute };
  const endpoints = [buy, sum].map(
    (each): Endpoint => ({
      kind: 'route',
      method: 'POST',
      path: each.path,
      envelope: 'flat',
      route: each,
    }),
  );
  const deps: Parameters<typeof serveRequest>[0] = {
    services: {},
    refusals: undefined,
    strangers,
    unknownRoute: createUnknownRoute(endpoints),
    takesTurn: () => true,
    authenticate: createAuthenticate({
      credentials: fakeCredentials,
      strangers,
      signIns,
      clock,
      secureCookies: false,
    }),
    rateGate: createRateGate(
      { clock, signIns, limiter, serverLimiter: createRateLimiter(clock) },
      limits,
    ),
    idempotency,
    router: createRouter(endpoints),
    metrics: createHttpMetrics(metrics, {
      requests: () => 0,
      sockets: () => 0,
      connections: () => 0,
      refusedConnections: () => 0,
    }),
    clientAddress: (remote) => remote,
    requestId: createRequestIds(systemRandom),
    commonHeaders: commonHeaders(),
    privateHeaders: privateHeaders(commonHeaders()),
    bodyBudget: new BodyBudget({ bytes: 1_000, bytesPerCaller: 1_000 }),
    clock,
    log: silentLog,
    isDraining: () => false,
    ...other,
  };

  /** The request object dies with the call, as the library's does. */
  const postTo = (path: string, headers: Record<string, string>, ...pieces: string[]) => {
    const response = new FakeResponse();
    let isAlive = true;
    const alive = <T>(value: T): T => {
      if (!isAlive) throw new Error('the request was read after its callback');
      return value;
    };
    const request = {
      getMethod: () => alive('post'),
      getUrl: () => alive(path),
      getQuery: () => alive(''),
      forEach: (callback: (name: string, value: string) => void) => {
        for (const [name, value] of Object.entries(alive(headers))) callback(name, value);
      },
    } as unknown as HttpRequest;
    const served = serveRequest(deps, response.asResponse, request);
    isAlive = false;
    pieces.forEach((piece, i) => {
      response.receive(piece, i === pieces.length - 1);
    });
    return { response, served };
  };
  const post = (headers: Record<string, string>, ...pieces: string[]) =>
    postTo('/v1/buy', headers, ...pieces);
  return { post, postTo, idempotency, metrics, deps };
}

const me = bearer(KEYS.agent);

describe('serving a request', () => {
  it('the server copies a request before the library’s callback ends, and joins the pieces of its body', async () => {
    const { post, deps } = edge();
    const { response, served } = post(me, '{"what":', '"tea"}');
    await served;
    expect(response.status).toBe('200 OK');
    expect(JSON.parse(response.body)).toEqual({ bought: 'tea', clientAddress: '127.0.0.1' });
    expect(deps.bodyBudget.heldBytes).toBe(0);
  });

  it('the server refuses a wrong credential without waiting for the body', async () => {
    const { post } = edge();
    const { response, served } = post(bearer(KEYS.developer));
    await served;
    expect(response.status).toBe('401 Unauthorized');
  });

  it('the server searches for the nearest route only while the caller’s network has anonymous requests left', async () => {
    let searches = 0;
    const { postTo } = edge(100, {
      strangers: createStrangerGate(new ManualClock(), {
        anonymous: { burst: 2, perMinute: 1 },
        failedCredentials: { burst: 2, perMinute: 1 },
      }),
      unknownRoute: () => ({
        envelope: 'flat',
        refusal() {
          searches += 1;
          return requestErrors.notFound('There is no such route.');
        },
      }),
    });
    const statuses: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { response, served } = postTo(`/v1/guess-${i}`, {}, '{}');
      await served;
      statuses.push(response.status.slice(0, 3));
    }
    expect([statuses, searches]).toEqual([['404', '404', '429', '429', '429'], 2]);
  });

  it('a replay of an idempotency key takes no rate-limit token', async () => {
    const { post, idempotency } = edge(2);
    const keyed = { ...me, 'idempotency-key': 'k1' };
    const statuses: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { response, served } = post(keyed, '{"what":"tea"}');
      await served;
      statuses.push(response.status);
    }
    expect(statuses).toEqual(Array(5).fill('200 OK'));
    expect(idempotency.log).toEqual(['store 200']);

    const plain = [post(me, '{"what":"a"}'), post(me, '{"what":"b"}')];
    await Promise.all(plain.map(({ served }) => served));
    expect(plain.map(({ response }) => response.status)).toEqual([
      '200 OK',
      '429 Too Many Requests',
    ]);
  });

  it('the server stores a refusal under its idempotency key, and frees the key of a client that left', async () => {
    const { post, idempotency } = edge();
    const { served } = post({ ...me, 'idempotency-key': 'k2' }, '{"what":5}');
    await served;
    const leaving = post({ ...me, 'idempotency-key': 'k3' }, '{"wh', '');
    const halfway = post({ ...me, 'idempotency-key': 'k4' });
    halfway.response.receive('{"wh', false);
    halfway.response.abort();
    await Promise.all([leaving.served, halfway.served]);
    expect(idempotency.log.toSorted()).toEqual(['abandon', 'store 400', 'store 400']);
    const tooLong = post({ ...me, 'idempotency-key': 'k'.repeat(256) }, '{}');
    await tooLong.served;
    expect(tooLong.response.status).toBe('400 Bad Request');
  });

  it('the server frees the idempotency key of a request that it refused with 429', async () => {
    const { post, idempotency } = edge(0);
    const { response, served } = post({ ...me, 'idempotency-key': 'k5' }, '{"what":"tea"}');
    await served;
    expect(response.status).toBe('429 Too Many Requests');
    expect(idempotency.log).toEqual(['abandon']);
  });

  it('request metrics are labelled by route template, and overhead leaves out time spent waiting for others', async () => {
    const { post, metrics } = edge();
    await post(me, '{"what":"tea"}').served;
    const text = await metrics.render();
    expect(text).toContain('http_requests_total{method="POST",route="/v1/buy",status="200"} 1');
    expect(text).toContain('http_request_duration_seconds_bucket{route="/v1/buy",le="0.001"} 1');
    expect(text).toContain('http_request_duration_seconds_count{route="/v1/buy"} 1');
    expect(text).toContain('svc_overhead_ms_sum 0');
  });
});

describe('serving an answer that breaks off', () => {
  const serve = async (failure: Error) => {
    const relay = route()({
      method: 'POST',
      path: '/v1/buy',
      credential: 'agent',
      summary: 'test',
      async handle() {
        return { status: 200, headers: {}, body: cutOff(failure) };
      },
    });
    const { path } = relay;
    const endpoint: Endpoint = {
      kind: 'route',
      method: 'POST',
      path,
      envelope: 'flat',
      route: relay,
    };
    const { log, lines } = logLines();
    const { post } = edge(100, { router: createRouter([endpoint]), log });
    const { response, served } = post(me, '{}');
    await served;
    expect([response.status, response.body, response.closed]).toEqual(['200 OK', 'ab', true]);
    return lines;
  };

  it('a response that a vendor breaks off is one log line without a stack', async () => {
    for (const [failure, why] of [
      [new SendFailed('broken', { beforeBytes: false }), 'the request failed: broken'],
      [new BodyTooLarge(9), 'the body has more than 9 bytes'],
    ] as const) {
      const lines = await serve(failure);
      expect(lines).toMatchObject([{ level: 30, route: '/v1/buy', why }]);
      expect(JSON.stringify(lines)).not.toContain('stack');
    }
  });

  it('a response that a bug breaks off is logged whole', async () => {
    expect(await serve(new TypeError('bug'))).toMatchObject([
      { level: 50, err: { message: 'bug', stack: expect.any(String) } },
    ]);
  });
});

describe('serving a body that is read while it arrives', () => {
  it('a streamed request body gets the handler’s response, and its memory is given back', async () => {
    const { postTo, deps } = edge();
    const { response, served } = postTo('/v1/sum', me, 'abc', 'de', '');
    await served;
    expect([response.status, response.body]).toEqual(['200 OK', '{"bytes":5}']);
    expect(deps.bodyBudget.heldBytes).toBe(0);
  });

  it('a streamed request keeps its response under its idempotency key, and frees the key if its client left halfway', async () => {
    const { postTo, idempotency } = edge();
    const keyed = { ...me, 'idempotency-key': 's1' };
    await postTo('/v1/sum', keyed, 'abc').served;
    const again = postTo('/v1/sum', keyed, 'abcdef');
    await again.served;
    expect(again.response.body).toBe('{"bytes":3}');
    await postTo('/v1/sum', { ...me, 'idempotency-key': 's2' }, '123456789').served;

    const halfway = postTo('/v1/sum', { ...me, 'idempotency-key': 's3' });
    halfway.response.receive('ab', false);
    halfway.response.abort();
    await halfway.served;
    expect(idempotency.log).toEqual(['store 200', 'store 413', 'abandon']);
  });

  it('a client that sends on after a refusal is told the reason when its body has ended', async () => {
    const { postTo, deps } = edge();
    for (const [first, status] of [
      ['123456789', '413 Payload Too Large'],
      ['x', '400 Bad Request'],
    ] as const) {
      const { response, served } = postTo('/v1/sum', me);
      response.receive(first, false);
      await new Promise((resolve) => setImmediate(resolve));
      expect(response.status).toBe('');
      response.receive('rest', true);
      await served;
      expect(response.status).toBe(status);
    }
    const refused = postTo('/v1/sum', bearer(KEYS.developer));
    refused.response.receive('abc', false);
    await refused.served;
    expect(refused.response.status).toBe('401 Unauthorized');
    expect(deps.bodyBudget.heldBytes).toBe(0);
  });

  it('streamed requests have a rate limit of their own', async () => {
    const { postTo, deps } = edge();
    const statuses: string[] = [];
    for (let i = 0; i <= DEFAULT_RATE_LIMITS.ledgerSyncPerMinute; i++) {
      const { response, served } = postTo('/v1/sum', me, 'a');
      await served;
      statuses.push(response.status);
      if (i < DEFAULT_RATE_LIMITS.ledgerSyncPerMinute) continue;
      expect(JSON.parse(response.body)).toMatchObject({ reason: 'agent_ledger_limit' });
    }
    expect(statuses.filter((status) => status === '200 OK')).toHaveLength(60);
    expect(deps.bodyBudget.heldBytes).toBe(0);
  });
});

describe('request ids', () => {
  it('request ids never repeat, also across batches of random bytes', () => {
    const next = createRequestIds(systemRandom);
    const ids = Array.from({ length: 2_000 }, () => next(undefined));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-f]{24}$/);
  });
});
