import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ok, route } from '../../../src/http/route/route.ts';
import { type Edge, startEdge } from '../../support/edge.ts';
import { answersIn, RawSocket, rawRequest } from '../../support/raw-socket.ts';

const state = { aborted: 0, handled: 0 };

const open = { credential: 'none', summary: 'test' } as const;

const ROUTES = [
  route()({ ...open, method: 'GET', path: '/ok', handle: () => ok({ fine: true }) }),
  route()({
    ...open,
    method: 'GET',
    path: '/throws',
    handle: () => {
      throw new Error('secret words of a bug');
    },
  }),
  route()({
    ...open,
    method: 'GET',
    path: '/rejects',
    async handle() {
      await Promise.resolve();
      throw new Error('secret words of a bug');
    },
  }),
  route()({
    ...open,
    method: 'GET',
    path: '/waits',
    async handle({ signal }) {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          state.aborted += 1;
          resolve(undefined);
        });
      });
      return ok({ waited: true });
    },
  }),
  route()({
    ...open,
    method: 'GET',
    path: '/splits',
    handle: () => ok({}, { 'x-relayed': 'a\r\nx-injected: yes' }),
  }),
  route()({
    ...open,
    method: 'GET',
    path: '/frames-itself',
    handle: () => ok({}, { 'content-length': '3' }),
  }),
  route()({
    ...open,
    method: 'POST',
    path: '/echo',
    body: z.looseObject({}),
    handle({ body }) {
      state.handled += 1;
      return ok(body);
    },
  }),
];

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge({ routes: ROUTES });
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
});

const stillServes = async () => {
  expect((await fetch(`${edge.url}/ok`)).status).toBe(200);
};

describe('a handler that fails', () => {
  it('a handler that throws synchronously answers 500 without its error text, and the process survives', async () => {
    const answer = await fetch(`${edge.url}/throws`);
    expect(answer.status).toBe(500);
    const body = await answer.text();
    expect(JSON.parse(body)).toMatchObject({ error: 'Internal error' });
    expect(body).not.toContain('secret');
    await stillServes();
  });

  it('a handler that rejects later answers 500, and never leaves the caller hanging', async () => {
    const answer = await fetch(`${edge.url}/rejects`);
    expect(answer.status).toBe(500);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await answer.text()).not.toContain('secret');
  });
});

describe('a client that leaves', () => {
  it('a client that leaves aborts the handler’s signal, and the late response harms no other request', async () => {
    const before = state.aborted;
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('GET /waits'));
    await expect.poll(() => edge.server.openRequests).toBe(1);
    socket.destroy();
    await expect.poll(() => state.aborted).toBe(before + 1);
    await stillServes();
    expect(edge.server.openRequests).toBe(0);
  });

  it('a request is closed when its client leaves in the middle of the body', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('POST /echo', ['Content-Length: 100'], '{"half":'));
    await expect.poll(() => edge.server.openRequests).toBe(1);
    socket.destroy();
    await expect.poll(() => edge.server.openRequests).toBe(0);
  });

  it('a client that pipelines a request behind a pending one gets at most one response', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('GET /waits') + rawRequest('GET /waits'));
    const received = await socket.untilClosed();
    expect(answersIn(received)).toBeLessThanOrEqual(1);
    await stillServes();
  });
});

describe('a message that could be two', () => {
  it('a request with two Content-Length headers is refused with 400 and its connection closed', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('POST /echo', ['Content-Length: 2', 'Content-Length: 90'], '{}'));
    const received = await socket.untilClosed();
    expect(received).toContain('400 Bad Request');
    expect(received).toContain('doubled_header');
  });

  it('a request that two Content-Length headers smuggle in behind the first is never served', async () => {
    const before = state.handled;
    const socket = await RawSocket.open(edge.port);
    const smuggled = rawRequest('POST /echo', ['Content-Length: 2'], '{}');
    socket.send(
      rawRequest('POST /echo', ['Content-Length: 2', 'Content-Length: 90'], `{}${smuggled}`),
    );
    const received = await socket.untilClosed();
    expect(received).not.toContain('200 OK');
    expect(answersIn(received)).toBeLessThanOrEqual(1);
    expect(state.handled).toBe(before);
  });

  it('a request with Content-Length beside Transfer-Encoding is refused', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(
      rawRequest('POST /echo', ['Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    );
    expect(await socket.untilClosed()).toContain('400');
  });

  it('a request with two Authorization headers is refused, since two parties may read different ones', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('GET /ok', ['Authorization: Bearer a', 'Authorization: Bearer b']));
    expect(await socket.untilClosed()).toContain('400 Bad Request');
  });

  it('a request with two provider key headers is refused, since they would be joined to one invalid key', async () => {
    const socket = await RawSocket.open(edge.port);
    const twice = ['X-Svc-Provider-Key: sk-a', 'x-svc-provider-key: sk-b'];
    socket.send(rawRequest('GET /ok', twice));
    const answer = await socket.untilClosed();
    expect(answer).toContain('400 Bad Request');
    expect(answer).not.toContain('sk-');
  });

  it('a response header with a line break in it answers 500 and is never written', async () => {
    const answer = await fetch(`${edge.url}/splits`);
    expect(answer.status).toBe(500);
    expect(answer.headers.get('x-injected')).toBeNull();
  });

  it('a handler that sets the length of its response itself answers 500', async () => {
    expect((await fetch(`${edge.url}/frames-itself`)).status).toBe(500);
  });
});

describe('sizes and slowness', () => {
  it('a request with 5 KB of headers is accepted, and one with 20 KB is refused with 431', async () => {
    const fits = await RawSocket.open(edge.port);
    fits.send(rawRequest('GET /ok', [`X-Payment: ${'a'.repeat(5_000)}`]));
    expect(await fits.until((text) => text.includes('\r\n\r\n'))).toContain('200 OK');
    fits.destroy();

    const bursts = await RawSocket.open(edge.port);
    bursts.send(rawRequest('GET /ok', [`X-Payment: ${'a'.repeat(20_000)}`]));
    expect(await bursts.untilClosed()).toContain('431');
  });

  it('a connection whose headers or body trickle in is closed within twenty seconds', async () => {
    const head = await RawSocket.open(edge.port);
    head.send('GET /ok HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const body = await RawSocket.open(edge.port);
    body.send(rawRequest('POST /echo', ['Content-Length: 1000']));
    const trickle = setInterval(() => {
      head.send('a');
      body.send(' ');
    }, 1_000);
    try {
      await Promise.all([head.untilClosed(20_000), body.untilClosed(20_000)]);
    } finally {
      clearInterval(trickle);
    }
    await stillServes();
    expect(edge.server.openRequests).toBe(0);
  }, 30_000);

  it('an oversize body is refused with 413, and its connection is kept for the next request', async () => {
    const socket = await RawSocket.open(edge.port);
    const size = 3 * 1024 * 1024;
    socket.send(rawRequest('POST /echo', [`Content-Length: ${size}`], 'x'.repeat(size)));
    const received = await socket.until((text) => text.includes('limit_bytes'));
    expect(received).toContain('413 Payload Too Large');
    expect(received).toContain('"error":"payload_too_large"');
    socket.send(rawRequest('GET /ok'));
    expect(await socket.until((text) => text.includes('fine'))).toContain('200 OK');
    socket.destroy();
  });

  it('an endless body is read only to its limit, answered with 413, and its connection closed', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('POST /echo', ['Transfer-Encoding: chunked']));
    const chunk = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
    let sent = 0;
    while (!socket.isClosed && sent < 64) {
      socket.send(chunk);
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await socket.untilClosed();
    expect(sent).toBeLessThan(64);
    await stillServes();
  });

  it('a chunked body is read like a body with a Content-Length', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(
      rawRequest(
        'POST /echo',
        ['Transfer-Encoding: chunked'],
        '5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
      ),
    );
    expect(await socket.until((text) => text.includes('"a"'))).toContain('{"a":1}');
    socket.destroy();
  });

  it('the HTTP server stays alive with 2,000 idle connections', async () => {
    const idle = await Promise.all(Array.from({ length: 2_000 }, () => RawSocket.open(edge.port)));
    await stillServes();
    for (const socket of idle) socket.destroy();
    await stillServes();
  }, 30_000);
});
