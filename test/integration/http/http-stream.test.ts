import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, route, streamedBody } from '../../../src/http/route/route.ts';
import { type Edge, startEdge } from '../../support/edge.ts';
import { RawSocket, rawRequest } from '../../support/raw-socket.ts';

const CHUNK = new Uint8Array(64 * 1024).fill(97);
const state = { produced: 0, stopped: 0, over: 0 };

async function* endless() {
  try {
    while (true) {
      state.produced += 1;
      yield CHUNK;
    }
  } finally {
    state.stopped += 1;
  }
}

async function* counted(chunks: number) {
  for (let i = 0; i < chunks; i++) {
    if (i % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    yield CHUNK;
    yield new Uint8Array(0);
  }
}

async function* broken() {
  yield Buffer.from('half of ');
  await new Promise((resolve) => setTimeout(resolve, 5));
  throw new Error('the source broke');
}

const stream = (path: `/${string}`, body: () => AsyncIterable<Uint8Array>) =>
  route()({
    method: 'GET',
    path,
    credential: 'none',
    summary: 'test',
    handle: () => ({ status: 200, body: body(), headers: { 'content-type': 'text/plain' } }),
  });

/** Answers more than the buffers of a connection take, and counts when that is over. */
const large = route()({
  method: 'GET',
  path: '/large',
  credential: 'none',
  summary: 'test',
  handle({ onOver }) {
    onOver(() => {
      state.over += 1;
    });
    return { status: 200, body: new Uint8Array(64 * 1024 * 1024), headers: {} };
  },
});

/** Reads one piece of its body, and the others when it is told to. */
let readOn = () => {};
const slowReader = route()({
  method: 'POST',
  path: '/slow-reader',
  credential: 'none',
  summary: 'test',
  body: streamedBody('application/octet-stream'),
  maxBodyBytes: 64 * 1024 * 1024,
  async handle({ body }) {
    let bytes = 0;
    for await (const piece of body) {
      if (bytes === 0) {
        await new Promise<void>((resolve) => {
          readOn = resolve;
        });
      }
      bytes += piece.byteLength;
    }
    return ok({ bytes });
  },
});

/** What was produced once that has not grown for 300 ms; fails when it still grows after five seconds. */
async function producedAtRest(): Promise<number> {
  const bound = performance.now() + 5_000;
  let produced = state.produced;
  let sinceMs = performance.now();
  while (performance.now() - sinceMs < 300) {
    expect(performance.now(), 'the source stands still').toBeLessThan(bound);
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (state.produced === produced) continue;
    produced = state.produced;
    sinceMs = performance.now();
  }
  return produced;
}

let edge: Edge;
beforeAll(async () => {
  const routes = [
    stream('/endless', endless),
    stream('/counted', () => counted(500)),
    stream('/broken', broken),
    slowReader,
    large,
  ];
  edge = await startEdge({ routes });
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
});

describe('a streamed answer', () => {
  it('a streamed response arrives whole, with empty chunks in it', async () => {
    const answer = await fetch(`${edge.url}/counted`);
    const bytes = await answer.arrayBuffer();
    expect(bytes.byteLength).toBe(500 * CHUNK.byteLength);
    expect(answer.headers.get('content-type')).toBe('text/plain');
  });

  it('a streamed response pulls no more than fits the buffers of a stalled reader, and resumes when it reads', async () => {
    const before = state.produced;
    const socket = await RawSocket.open(edge.port);
    socket.pause();
    socket.send(rawRequest('GET /endless'));
    await expect.poll(() => state.produced).toBeGreaterThan(before);
    const atRest = await producedAtRest();
    // What the kernel's socket buffers hold on both sides is all that was ever produced.
    expect((atRest - before) * CHUNK.byteLength).toBeLessThan(32 * 1024 * 1024);

    socket.resume();
    await expect.poll(() => state.produced).toBeGreaterThan(atRest + 10);
    socket.destroy();
    await expect.poll(() => edge.server.openRequests).toBe(0);
  });

  it('a streamed response stops its source when the client leaves', async () => {
    const before = state.stopped;
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('GET /endless'));
    await socket.until((text) => text.length > 100_000);
    socket.destroy();
    await expect.poll(() => state.stopped).toBe(before + 1);
  });

  it('a streamed response never looks complete when its source broke', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('GET /broken'));
    const received = await socket.untilClosed();
    expect(received).toContain('half of ');
    expect(received).not.toContain('\r\n0\r\n\r\n');
    await expect(fetch(`${edge.url}/broken`).then((answer) => answer.text())).rejects.toThrow();
  });

  it('a streamed response is not started for a HEAD request', async () => {
    const before = state.produced;
    const answer = await fetch(`${edge.url}/endless`, { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(state.produced).toBe(before);
  });
});

describe('a request', () => {
  it('a request counts as open until its response is fully read or its client has left', async () => {
    for (const end of ['resume', 'destroy'] as const) {
      const before = state.over;
      const socket = await RawSocket.open(edge.port);
      socket.pause();
      socket.send(rawRequest('GET /large', ['Connection: close']));
      await expect.poll(() => edge.server.openRequests).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      expect([state.over - before, edge.server.openRequests]).toEqual([0, 1]);
      socket[end]();
      await expect.poll(() => state.over).toBe(before + 1);
      socket.destroy();
      await expect.poll(() => edge.server.openRequests).toBe(0);
    }
  });
});

describe('a streamed body', () => {
  const BYTES = 48 * 1024 * 1024;

  it('a streamed request body waits at its client while the handler does not read, and then arrives whole', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('POST /slow-reader', [`Content-Length: ${BYTES}`]));
    socket.send(Buffer.alloc(BYTES, 1));
    await expect.poll(() => edge.server.openRequests).toBe(1);
    let unsent = -1;
    await expect
      .poll(
        () => {
          const before = unsent;
          unsent = socket.unsentBytes;
          return unsent === before;
        },
        { interval: 300 },
      )
      .toBe(true);
    // What the kernel's socket buffers hold on both sides is all that was ever taken.
    expect(unsent).toBeGreaterThan(BYTES - 32 * 1024 * 1024);

    readOn();
    expect(await socket.until((text) => text.includes('{'))).toContain(`{"bytes":${BYTES}}`);
    socket.send(rawRequest('GET /counted', ['Connection: close']));
    await socket.untilClosed();
  });

  it('a streamed request body is dropped when its client leaves while the handler does not read', async () => {
    const socket = await RawSocket.open(edge.port);
    socket.send(rawRequest('POST /slow-reader', [`Content-Length: ${BYTES}`]));
    socket.send(Buffer.alloc(BYTES, 1));
    await expect.poll(() => edge.server.openRequests).toBe(1);
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    readOn();
    await expect.poll(() => edge.server.openRequests).toBe(0);
  });
});

describe('draining', () => {
  it('a draining server lets a running request finish, refuses new connections and then closes', async () => {
    let finish = () => {};
    const slow = route()({
      method: 'GET',
      path: '/slow',
      credential: 'none',
      summary: 'test',
      async handle() {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        return { status: 200, body: { done: true }, headers: {} };
      },
    });
    const leaving = await startEdge({ routes: [slow] });
    const running = fetch(`${leaving.url}/slow`);
    await expect.poll(() => leaving.server.openRequests).toBe(1);

    const drained = leaving.server.drain(5_000);
    await expect(fetch(`${leaving.url}/slow`)).rejects.toThrow();
    finish();
    const answer = await running;
    expect(await answer.json()).toEqual({ done: true });
    expect(answer.headers.get('connection')).toBe('close');
    await drained;
  });

  it('a draining server waits no longer than its grace period', async () => {
    const leaving = await startEdge({ routes: [stream('/endless', endless)] });
    const socket = await RawSocket.open(leaving.port);
    socket.pause();
    socket.send(rawRequest('GET /endless'));
    await expect.poll(() => leaving.server.openRequests).toBe(1);
    const startedMs = performance.now();
    await leaving.server.drain(200);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    socket.destroy();
  });

  it('a server whose port is taken names the port in its error', async () => {
    const second = startEdge({}).then(async (other) => {
      await other.server.listen({ host: '127.0.0.1', port: edge.port });
    });
    await expect(second).rejects.toThrow(`127.0.0.1:${edge.port}`);
  });
});
