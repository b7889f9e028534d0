import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/clock.ts';
import {
  contentTypeOf,
  createUpstreamPool,
  unservedOf,
} from '../../../../src/models/providers/upstream-pool.ts';
import { listenOnLoopback } from '../../../support/listen-on-loopback.ts';

const answer = (status: number, headers: Record<string, string> = {}) =>
  unservedOf({ status, headers, body: Buffer.from('no') }, Date.parse('2026-11-22T06:00:00Z'));

describe('an answer that is no success', () => {
  it('an upstream response without success is a failure of the source or a refusal of the request', () => {
    expect(answer(429, { 'retry-after': '7' })).toMatchObject({
      failure: 'rate_limited',
      retryAfterSeconds: 7,
    });
    const date = 'Sun, 22 Nov 2026 06:00:09 GMT';
    expect(answer(429, { 'retry-after': date })).toMatchObject({ retryAfterSeconds: 9 });
    expect(answer(429, { 'retry-after': 'Sun, 22 Nov 2026' })).toMatchObject({
      retryAfterSeconds: null,
    });
    expect(answer(429, { 'retry-after-ms': '20' })).toMatchObject({
      retryAfterSeconds: 1,
      retryAfterMs: 20,
    });
    expect(answer(408)).toMatchObject({ kind: 'failed', failure: 'timeout' });
    expect([answer(500), answer(302)]).toMatchObject([
      { failure: 'broken' },
      { failure: 'broken' },
    ]);
    expect(answer(422, { 'content-type': 'text/plain' })).toMatchObject({
      kind: 'declined',
      status: 422,
      contentType: 'text/plain',
    });
    expect(answer(200)).toBeUndefined();
    expect(contentTypeOf({ headers: {} })).toBe('application/json');
  });
});

const read = async () => ({ kind: 'completed', status: 200 }) as const;

/** Undici looks at its time limits about twice a second. */
const ANSWER_MS = 1_500;

describe('calls to an upstream', () => {
  const request = () => ({ body: '{}' });
  const upstream = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: null };
  const deps = { upstream, path: '/x', credential: () => ({}), clock: systemClock };
  const { signal } = new AbortController();

  it('an upstream call fails as unreachable when no server listens, for streams too', async () => {
    await using pool = createUpstreamPool(deps);
    const failed = { kind: 'failed', failure: 'unreachable' };
    expect(await pool.whole(request, signal, read)).toMatchObject(failed);
    expect(await pool.opened(request, signal, read)).toMatchObject(failed);
  });

  it('an upstream call goes to its own path below the base URL and keeps the base’s query', async () => {
    const asked: string[] = [];
    const server = createServer((message, response) => {
      asked.push(`${message.method} ${message.url}`);
      response.end('{}');
    });
    await using peer = await listenOnLoopback(server);
    const sent = { method: 'GET', body: null } as const;
    const paths = ['/a%2Fb?c=d', '/e', undefined];
    for (const base of ['/', '?key=1']) {
      const at = { ...upstream, baseUrl: peer.baseUrl + base };
      await using pool = createUpstreamPool({ ...deps, upstream: at });
      for (const path of paths) {
        const way = path === undefined ? {} : { path };
        await pool.whole(() => ({ ...sent, ...way }), signal, read);
      }
    }
    expect(asked).toEqual([
      'GET /v1/a%2Fb?c=d',
      'GET /v1/e',
      'GET /v1/x',
      'GET /v1/a%2Fb?key=1&c=d',
      'GET /v1/e?key=1',
      'GET /v1/x?key=1',
    ]);
  });

  it('an upstream call times out before a stream’s first byte, or before a whole response’s end', async () => {
    const server = createServer(
      (_, response) => void setTimeout(() => response.end('{}'), ANSWER_MS),
    );
    await using peer = await listenOnLoopback(server);
    const at = { ...upstream, baseUrl: `${peer.baseUrl}/` };
    const timeout = { kind: 'failed', failure: 'timeout' };
    const limited = (limits: object) => createUpstreamPool({ ...deps, upstream: at, limits });
    await using pool = limited({ firstByteMs: 50 });
    await using hasty = limited({ totalMs: 50 });
    const outcomes = [
      pool.opened(request, signal, read),
      pool.whole(request, signal, read),
      hasty.whole(request, signal, read),
    ];
    const completed = { kind: 'completed' };
    expect(await Promise.all(outcomes)).toMatchObject([timeout, completed, timeout]);
  });

  it('an upstream call is not sent beyond the limit of concurrent calls or for a client that has left', async () => {
    await using none = createUpstreamPool({ ...deps, limits: { inFlight: 0 } });
    expect(await none.whole(request, signal, read)).toMatchObject({ failure: 'busy' });
    expect(await none.opened(request, signal, read)).toMatchObject({ failure: 'busy' });
    await using pool = createUpstreamPool(deps);
    expect(await pool.whole(request, AbortSignal.abort(), read)).toEqual({ kind: 'aborted' });
  });

  it('an upstream call frees its slot however it ends', async () => {
    await using pool = createUpstreamPool({ ...deps, limits: { inFlight: 1 } });
    const broken = () => ({ body: '{}', headers: { 'bad\nname': 'x' } });
    for (const sent of [request, broken, request]) {
      expect(await pool.whole(sent, signal, read)).toMatchObject({ failure: 'unreachable' });
      expect(await pool.opened(sent, signal, read)).toMatchObject({ failure: 'unreachable' });
    }
    expect(await pool.opened(request, AbortSignal.abort(), read)).toEqual({ kind: 'aborted' });
    expect(await pool.whole(request, signal, read)).toMatchObject({ failure: 'unreachable' });
  });

  it('an upstream call that is too deep to serialize is unfit and not sent', async () => {
    await using pool = createUpstreamPool(deps);
    const deep = () => {
      throw new RangeError('too deep');
    };
    expect(await pool.whole(deep, signal, read)).toMatchObject({ kind: 'unfit' });
  });
});
