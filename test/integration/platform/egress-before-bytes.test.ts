import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { at, failureOf, guardedClient, request, textOf } from '../../support/guarded.ts';
import { answering, rawAnswer, startRawServer } from '../../support/raw-server.ts';

/** Decides about money: a request that may have left is never called unsent, and none leaves twice. */

const paid = (options: Parameters<typeof request>[0] = {}) =>
  request({ method: 'POST', headers: [['payment-signature', 'once']], body: '{}', ...options });

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

describe('a request that cannot have left', () => {
  it('an outgoing request whose connection is refused is reported as not sent', async () => {
    await using client = guardedClient();
    const failed = await failureOf(client.send(at(await closedPort()), paid()));
    expect(failed).toMatchObject({ reason: 'unreachable', beforeBytes: true });
  });

  it('an outgoing request whose signal was aborted before is reported as not sent', async () => {
    await using server = await startRawServer({});
    await using client = guardedClient();
    const failed = await failureOf(
      client.send(at(server.port), paid({ signal: AbortSignal.abort() })),
    );
    expect(failed).toMatchObject({ reason: 'aborted', beforeBytes: true });
    expect(server.peers).toHaveLength(0);
  });

  it('an outgoing request that cannot connect in time, over all addresses together, is reported as not sent', async () => {
    await using client = guardedClient();
    // Nothing answers in TEST-NET-1; where it is unroutable that is said at once.
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const began = performance.now();
    const failed = await failureOf(
      client.send(at(81, { addresses }), paid({ timeouts: { connectMs: 300 } })),
    );
    expect(failed.beforeBytes).toBe(true);
    expect(['timeout', 'unreachable']).toContain(failed.reason);
    expect(performance.now() - began).toBeLessThan(1_500);
  });

  it('an outgoing request that finds no free connection is reported as not sent', async () => {
    await using server = await startRawServer({});
    await using client = guardedClient({ bounds: { perOrigin: 1 } });
    const held = client.send(at(server.port), paid({ timeouts: { firstByteMs: 400 } }));
    const refused = await failureOf(client.send(at(server.port), paid()));
    expect(refused).toMatchObject({ reason: 'busy', beforeBytes: true });
    expect(await failureOf(held)).toMatchObject({ reason: 'timeout', beforeBytes: false });
    expect(server.requests()).toBe(1);
  });
});

describe('a request that may have left', () => {
  const endings = {
    'closed without a word': (socket) => socket.end(),
    'reset without a word': (socket) => socket.resetAndDestroy(),
    'reset within the head': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Le');
      setTimeout(() => socket.resetAndDestroy(), 20);
    },
    'answered with something else than HTTP': (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'),
    'answered with an upgrade': (socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    'never answered': () => {},
  } satisfies Record<string, (socket: import('node:net').Socket) => void>;

  for (const [how, end] of Object.entries(endings)) {
    it(`an outgoing request that was ${how} is sent once and reported as possibly sent`, async () => {
      await using server = await startRawServer({ data: ({ socket }) => end(socket) });
      await using client = guardedClient();
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'HEAD'] as const) {
        const before = server.requests();
        const sent = client.send(at(server.port), paid({ method, timeouts: { firstByteMs: 200 } }));
        expect(await failureOf(sent), method).toMatchObject({ beforeBytes: false });
        await sleep(50);
        expect(server.requests() - before, method).toBe(1);
      }
    });
  }

  it('an outgoing request whose connection is reset right after acceptance is reported as possibly sent', async () => {
    await using server = await startRawServer({
      connected: ({ socket }) => socket.resetAndDestroy(),
    });
    await using client = guardedClient();
    for (let i = 0; i < 50; i++) {
      const failed = await failureOf(client.send(at(server.port), paid()));
      // Unsent may be claimed only where nothing was written: the other side has seen no byte of it.
      if (failed.beforeBytes) expect(server.requests()).toBe(0);
    }
    expect(server.peers.length).toBeLessThanOrEqual(50);
  });

  it('an outgoing request that is aborted while it waits for its response is reported as possibly sent', async () => {
    await using server = await startRawServer({});
    await using client = guardedClient();
    const giveUp = new AbortController();
    const sent = client.send(at(server.port), paid({ signal: giveUp.signal }));
    await expect.poll(() => server.requests()).toBe(1);
    giveUp.abort();
    expect(await failureOf(sent)).toMatchObject({ reason: 'aborted', beforeBytes: false });
    await sleep(50);
    expect(server.requests()).toBe(1);
  });

  it('an outgoing request in flight when the client closes is reported as possibly sent', async () => {
    await using server = await startRawServer({});
    const client = guardedClient();
    const sent = client.send(at(server.port), paid());
    await expect.poll(() => server.requests()).toBe(1);
    await client[Symbol.asyncDispose]();
    expect(await failureOf(sent)).toMatchObject({ beforeBytes: false });
    const after = await failureOf(client.send(at(server.port), paid()));
    expect(after).toMatchObject({ reason: 'aborted', beforeBytes: true });
  });
});

describe('a kept connection', () => {
  it('a kept connection is used again, by the address that was checked', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('yes')) });
    await using client = guardedClient();
    for (let i = 0; i < 5; i++) {
      const answer = await client.send(at(server.port), request());
      expect(await textOf(answer.body)).toBe('yes');
    }
    expect(server.peers).toHaveLength(1);
    expect(server.requests()).toBe(5);
  });

  it('a kept connection that closes while idle loses no request, because nothing was written on it', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('yes')) });
    await using client = guardedClient();
    await textOf((await client.send(at(server.port), request())).body);
    server.peers[0]?.socket.end();
    await sleep(50);
    const answer = await client.send(at(server.port), request());
    expect(await textOf(answer.body)).toBe('yes');
    expect(server.peers).toHaveLength(2);
    expect(server.requests()).toBe(2);
  });

  it('a kept connection that closes with its last response is replaced, with nothing written on it', async () => {
    await using server = await startRawServer({
      data: ({ socket }) => socket.end(rawAnswer('yes', ['Connection: keep-alive'])),
    });
    await using client = guardedClient();
    for (let i = 1; i <= 20; i++) {
      // At once, before this side has seen the end.
      const answer = await client.send(at(server.port), paid());
      expect(await textOf(answer.body)).toBe('yes');
      expect(server.requests()).toBe(i);
    }
    expect(server.peers).toHaveLength(20);
  });

  it('a kept connection that closes at the moment of reuse never has a request sent twice', async () => {
    // The close crosses the next request on its way, at every distance that the loop can make.
    let closeAfterMs = 0;
    await using server = await startRawServer({
      data: (peer) => {
        answering(rawAnswer('yes'))(peer);
        if (closeAfterMs === 0) peer.socket.resetAndDestroy();
        else setTimeout(() => peer.socket.resetAndDestroy(), closeAfterMs - 1);
      },
    });
    await using client = guardedClient();
    let answered = 0;
    let unsent = 0;
    let unknown = 0;
    for (let i = 0; i < 200; i++) {
      closeAfterMs = i % 4;
      const before = server.requests();
      const marker = `call-${i}`;
      const sent = client.send(
        at(server.port),
        request({ method: 'GET', headers: [['x-call', marker]] }),
      );
      await sent
        .then(async ({ body }) => {
          await textOf(body).catch(() => {});
          answered++;
        })
        .catch(async (error) => {
          const failed = await failureOf(Promise.reject(error));
          if (failed.beforeBytes) {
            unsent++;
            await sleep(5);
            expect(server.requests()).toBe(before);
          } else {
            unknown++;
          }
        });
      const seen = server.peers.map(({ received }) => received.split(`${marker}\r`).length - 1);
      expect(seen.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(1);
    }
    expect(answered + unsent + unknown).toBe(200);
    expect(answered).toBeGreaterThan(0);
  });

  it('a kept connection on which the server sent unrequested bytes is not used again', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('yes')) });
    await using client = guardedClient();
    await textOf((await client.send(at(server.port), request())).body);
    server.peers[0]?.socket.write(rawAnswer('forged'));
    await sleep(20);
    const answer = await client.send(at(server.port), request());
    expect(await textOf(answer.body)).toBe('yes');
    expect(server.peers).toHaveLength(2);
  });

  it('a kept connection with a second response behind the first does not give that to the next request', async () => {
    let forge = true;
    await using server = await startRawServer({
      data: (peer) => {
        answering(forge ? rawAnswer('yes') + rawAnswer('forged') : rawAnswer('yes'))(peer);
        forge = false;
      },
    });
    await using client = guardedClient();
    for (let i = 0; i < 3; i++) {
      const answer = await client.send(at(server.port), request());
      expect(await textOf(answer.body)).toBe('yes');
    }
  });

  it('the kept connection that was unused for longest is closed when too many are idle', async () => {
    const servers = await Promise.all(
      [0, 1, 2].map(() => startRawServer({ data: answering(rawAnswer('yes')) })),
    );
    const client = guardedClient({ bounds: { idle: 2 } });
    const call = async (i: number) => {
      const answer = await client.send(at(servers[i]?.port ?? 0), request());
      expect(await textOf(answer.body)).toBe('yes');
    };
    await call(0);
    await call(1);
    await call(0);
    await call(2);
    await expect.poll(() => servers[1]?.peers[0]?.socket.destroyed).toBe(true);
    await call(0);
    await call(2);
    await call(1);
    expect(servers.map(({ peers }) => peers.length)).toEqual([1, 2, 1]);
    await client[Symbol.asyncDispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  it('a kept connection makes room for another origin when all slots are taken', async () => {
    await using first = await startRawServer({ data: answering(rawAnswer('yes')) });
    await using second = await startRawServer({ data: answering(rawAnswer('yes')) });
    await using client = guardedClient({ bounds: { total: 1 } });
    for (const { port } of [first, second, first]) {
      const answer = await client.send(at(port), request());
      expect(await textOf(answer.body)).toBe('yes');
    }
    expect([first.peers.length, second.peers.length]).toEqual([2, 1]);
  });

  it('a kept connection makes room for another address of its origin when the origin has no free slot', async () => {
    await using server = await startRawServer({
      data: answering(rawAnswer('yes')),
      host: '0.0.0.0',
    });
    await using client = guardedClient({ bounds: { perOrigin: 1 } });
    for (const address of ['127.0.0.1', '127.0.0.2']) {
      const answer = await client.send(at(server.port, { addresses: [address] }), request());
      expect(await textOf(answer.body)).toBe('yes');
    }
    expect(server.peers).toHaveLength(2);
  });

  it('a connection that an authorization scheme has signed in is not shared', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('yes')) });
    await using client = guardedClient();
    const headers = [['Authorization', 'Negotiate abc']] as const;
    await textOf((await client.send(at(server.port), request({ headers }))).body);
    await textOf((await client.send(at(server.port), request())).body);
    expect(server.peers).toHaveLength(2);
    expect(server.peers[0]?.received).toContain('connection: close');
  });
});
