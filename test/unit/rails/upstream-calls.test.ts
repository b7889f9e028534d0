import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import {
  contentTypeOf,
  createUpstreamCalls,
  refusalOf,
} from '../../../src/rails/upstream-calls.ts';

const answer = (status: number, headers: Record<string, string> = {}) =>
  refusalOf({ status, headers, body: Buffer.from('no') });

describe('an answer that is no success', () => {
  it('is a failure of the source or a refusal of the request', () => {
    expect(answer(429, { 'retry-after': '7' })).toMatchObject({
      failure: 'rate_limited',
      retryAfterSeconds: 7,
    });
    expect(answer(429, { 'retry-after': 'Sun, 22 Nov 2026' })).toMatchObject({
      retryAfterSeconds: null,
    });
    expect([answer(500), answer(302)]).toMatchObject([
      { failure: 'broken' },
      { failure: 'broken' },
    ]);
    expect(answer(422, { 'content-type': 'text/plain' })).toMatchObject({
      ...{ kind: 'declined', status: 422, contentType: 'text/plain' },
    });
    expect(contentTypeOf({})).toBe('application/json');
  });
});

describe('calls to an upstream', () => {
  const request = { contentType: 'text/plain', length: 1, pieces: [Buffer.from('x')] };
  const upstream = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: null };

  it('fail where nobody listens, for readers of a stream too', async () => {
    await using calls = createUpstreamCalls({ upstream, path: '/x', clock: systemClock });
    const { signal } = new AbortController();
    const failed = { kind: 'failed', failure: 'unreachable' };
    expect(await calls.whole(request, signal)).toMatchObject(failed);
    expect(await calls.opened(request, signal, async () => 'read')).toMatchObject(failed);
  });

  it('are not sent beyond their bound, nor for a client that has left', async () => {
    const deps = { upstream, path: '/x', clock: systemClock };
    await using none = createUpstreamCalls({ ...deps, limits: { inFlight: 0 } });
    const { signal } = new AbortController();
    expect(await none.whole(request, signal)).toMatchObject({ failure: 'busy' });
    expect(await none.opened(request, signal, async () => 'read')).toMatchObject({
      failure: 'busy',
    });
    await using calls = createUpstreamCalls(deps);
    expect(await calls.whole(request, AbortSignal.abort())).toEqual({ kind: 'aborted' });
  });
});
