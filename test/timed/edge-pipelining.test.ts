import { request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ok, route } from '../../src/http/route/route.ts';
import { startEdge } from '../support/edge.ts';
import { answersIn, RawSocket, rawRequest } from '../support/raw-socket.ts';

const HUGE = Buffer.alloc(16 * 1024 * 1024, 'a');
const served = { small: 0, large: 0, echoed: 0 };
const LARGE = Buffer.alloc(200_000, 'a');
const open = { credential: 'none', summary: 'test' } as const;

async function* inPieces() {
  yield Buffer.from('one');
  yield Buffer.from('two');
}

const ROUTES = [
  route()({
    ...open,
    method: 'GET',
    path: '/large',
    handle() {
      served.large += 1;
      return { status: 200, body: LARGE, headers: { 'content-type': 'text/plain' } };
    },
  }),
  route()({
    ...open,
    method: 'GET',
    path: '/huge',
    handle: () => ({ status: 200, body: HUGE, headers: { 'content-type': 'text/plain' } }),
  }),
  route()({
    ...open,
    method: 'GET',
    path: '/stream',
    handle: () => ({ status: 200, body: inPieces(), headers: { 'content-type': 'text/plain' } }),
  }),
  route()({
    ...open,
    method: 'GET',
    path: '/small',
    handle() {
      served.small += 1;
      return ok({ fine: true });
    },
  }),
  route()({
    ...open,
    method: 'POST',
    path: '/echo',
    body: z.looseObject({}),
    handle({ body }) {
      served.echoed += 1;
      return ok(body);
    },
  }),
];
/** What these tests are about must hold without any help of rate limits. */
const UNLIMITED = {
  globalPerMinute: 1e9,
  anonymousRequests: { burst: 1e6, perMinute: 1e9 },
};
const start = () => startEdge({ routes: ROUTES, rateLimits: UNLIMITED });

const MiB = 1024 * 1024;
const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What `work` adds to this process's memory, and the longest that the event loop stood still meanwhile. */
async function costOf(work: () => Promise<void>) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const before = process.memoryUsage().rss;
  delay.enable();
  await work();
  await rest(300);
  delay.disable();
  const grownBytes = process.memoryUsage().rss - before;
  return { grownMiB: grownBytes / MiB, stallMs: delay.max / 1e6 };
}

describe('a client that sends thousands of requests and reads no answer', () => {
  it('ten clients that send thousands of GET requests and read nothing grow the server by less than 64 MiB', async () => {
    await using edge = await start();
    served.large = 0;
    const sockets = await Promise.all(Array.from({ length: 10 }, () => RawSocket.open(edge.port)));
    const { grownMiB, stallMs } = await costOf(async () => {
      for (const socket of sockets) {
        socket.pause();
        socket.send(rawRequest('GET /large').repeat(3_000));
      }
      await rest(700);
    });
    for (const socket of sockets) socket.destroy();
    // A few fit into the buffers of the system; 30,000 were asked for.
    expect(served.large).toBeLessThan(10 * 60);
    expect(grownMiB).toBeLessThan(64);
    expect(stallMs).toBeLessThan(250);
  });

  it('a client that sends thousands of HEAD requests and reads nothing has at most one of them served', async () => {
    await using edge = await start();
    served.small = 0;
    const socket = await RawSocket.open(edge.port);
    socket.pause();
    socket.send(rawRequest('HEAD /small').repeat(3_000));
    await rest(300);
    socket.destroy();
    expect(served.small).toBeLessThanOrEqual(1);
  });
});

describe('the last answer of a connection', () => {
  const lastRequest = rawRequest('GET /huge', ['Transfer-Encoding: chunked'], '0\r\n\r\n');

  it('a long last response is sent in pieces to a client that reads nothing', async () => {
    await using edge = await start();
    const sockets = await Promise.all(Array.from({ length: 10 }, () => RawSocket.open(edge.port)));
    const { grownMiB } = await costOf(async () => {
      for (const socket of sockets) {
        socket.pause();
        socket.send(lastRequest);
      }
      await rest(300);
    });
    for (const socket of sockets) socket.destroy();
    // Ten copies of it are 160.
    expect(grownMiB).toBeLessThan(64);
  });

  it.each(['/large', '/stream'])(
    'the last response of a connection has valid chunked framing, and no later request is served: %s',
    async (path) => {
      await using edge = await start();
      served.small = 0;
      // A reader that is strict: a line that is no size of a chunk fails it.
      const body = await new Promise<string>((resolve, reject) => {
        const asked = request(
          { host: '127.0.0.1', port: edge.port, path, headers: { 'transfer-encoding': 'chunked' } },
          (answer) => {
            let text = '';
            expect(answer.headers.connection).toBe('close');
            answer.setEncoding('latin1').on('data', (piece) => (text += piece));
            answer.on('end', () => resolve(text)).on('error', reject);
          },
        );
        asked.on('error', reject).end();
      });
      expect(body).toBe(path === '/large' ? LARGE.toString() : 'onetwo');

      const socket = await RawSocket.open(edge.port);
      socket.send(rawRequest(`GET ${path}`, ['Transfer-Encoding: chunked'], '0\r\n\r\n'));
      await socket.until((text) => text.endsWith('\r\n0\r\n\r\n'));
      socket.send(rawRequest('GET /small'));
      await rest(50);
      socket.destroy();
      expect(served.small).toBe(0);
    },
  );
});

describe('a client that reads all it is sent', () => {
  it('a client that sends 16 requests in one packet gets their responses in order', async () => {
    await using edge = await start();
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('GET /small').repeat(16));
    await socket.until((text) => answersIn(text) === 16);
    socket.destroy();
  });

  it('a client that fills one packet with 10,000 requests is disconnected after fewer than 100', async () => {
    await using edge = await start();
    served.small = 0;
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('GET /small').repeat(10_000));
    await socket.untilClosed();
    expect(served.small).toBeLessThan(100);
  });

  it('a slow reader gets a large response whole', async () => {
    await using edge = await start();
    const socket = await RawSocket.open(edge.port);
    for (let i = 0; i < 40; i++) {
      socket.pause();
      socket.send(rawRequest('GET /large'));
      await rest(2);
      socket.resume();
      await socket.until((text) => text.length > (i + 1) * LARGE.length);
    }
    socket.destroy();
  });
});

describe('a chunked request', () => {
  const chunked = (body: string) => rawRequest('POST /echo', ['Transfer-Encoding: chunked'], body);
  const WHOLE = '2\r\n{}\r\n0\r\n\r\n';

  it('a chunked request is served and is the last one of its connection', async () => {
    await using edge = await start();
    const socket = await RawSocket.open(edge.port);
    socket.send(chunked(WHOLE));
    const received = await socket.untilClosed();
    expect(received).toContain('200 OK');
    expect(received.toLowerCase()).toContain('connection: close');
  });

  // Each end is seen elsewhere by a stricter reader: what hides behind it must never be served.
  it.each([
    ['a size that is no number', `1>\r\n{}\r\n0\r\n\r\n`],
    ['a zero with an extension', `2\r\n{}\r\n0;x\r\n\r\n`],
    ['bare line feeds', `2\n{}\n0\n\n`],
    ['no line end behind its data', `2\r\n{}XX0\r\n\r\n`],
    ['a proper end', WHOLE],
  ])(
    'a request behind a chunked request in the same packet is not served: %s',
    async (_what, body) => {
      await using edge = await start();
      served.small = 0;
      const socket = await RawSocket.open(edge.port);
      socket.send(chunked(body) + rawRequest('GET /small').repeat(3));
      await rest(100);
      socket.destroy();
      expect(served.small).toBe(0);
    },
  );

  it('a request that comes later on the connection of a chunked request is not served', async () => {
    await using edge = await start();
    served.small = 0;
    const socket = await RawSocket.open(edge.port);
    socket.send(chunked(WHOLE));
    await socket.untilClosed();
    socket.send(rawRequest('GET /small'));
    await rest(50);
    expect(served.small).toBe(0);
  });

  it.each(['gzip, chunked', 'identity', 'xchunked', 'chunked, chunked'])(
    'a request with a transfer encoding other than chunked is refused: %s',
    async (encoding) => {
      await using edge = await start();
      served.echoed = 0;
      const socket = await RawSocket.open(edge.port);
      socket.send(rawRequest('POST /echo', [`Transfer-Encoding: ${encoding}`], WHOLE));
      const received = await socket.untilClosed();
      expect(received).not.toContain('200 OK');
      expect(served.echoed).toBe(0);
    },
  );
});
