import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Exchange } from '../../../../src/http/pipeline/exchange.ts';
import { exchangeWithin } from '../../../../src/http/pipeline/exchange-within.ts';
import { ok, route } from '../../../../src/http/route/route.ts';
import { silentLog } from '../../../../src/kernel/log.ts';

const target = route()({
  method: 'POST',
  path: '/v1/target',
  credential: 'agent',
  summary: 'A target',
  body: z.unknown(),
  handle: () => ok({}),
} as const);

const outer: Exchange = {
  request: {
    method: 'POST',
    path: '/v1/outer',
    query: 'a=1',
    doubledHeader: undefined,
    framing: 'chunked',
    headers: new Map([
      ['authorization', 'Bearer svc_1'],
      ['x-svc-task-id', 'trip'],
      ['x-svc-provider-key', 'sk-1'],
      ['content-type', 'application/json'],
      ['transfer-encoding', 'chunked'],
      ['idempotency-key', 'outer'],
    ]),
  },
  route: target,
  rawParams: [['id', '1']],
  body: undefined,
  requestId: 'req',
  clientAddress: () => '192.0.2.1',
  signal: new AbortController().signal,
  onOver: () => {},
  log: () => silentLog,
};

it('an inner request has the sender and purpose of the outer one, and its own target, body and idempotency key', () => {
  const { signal } = new AbortController();
  const inner = exchangeWithin(outer, { route: target, body: { a: 1 }, signal });
  expect(inner).toMatchObject({ requestId: 'req', rawParams: [], body: { given: { a: 1 } } });
  expect([inner.signal, inner.clientAddress()]).toEqual([signal, '192.0.2.1']);
  // What its answer holds is held until the outer one is sent.
  expect(inner.onOver).toBe(outer.onOver);
  const { headers, ...request } = inner.request;
  expect(request).toMatchObject({
    method: 'POST',
    path: '/v1/target',
    query: '',
    framing: 'length',
  });
  expect([...headers.keys()]).toEqual(['authorization', 'x-svc-task-id', 'x-svc-provider-key']);

  const keyed = exchangeWithin(outer, { route: target, idempotencyKey: 'inner', signal });
  expect(keyed.request.headers.get('idempotency-key')).toBe('inner');
  expect(keyed.body).toBeUndefined();
  expect(outer.request.headers.get('idempotency-key')).toBe('outer');
});
