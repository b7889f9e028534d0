import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { at, failureOf, guardedClient, request, secure, textOf } from '../../support/guarded.ts';
import { answering, rawAnswer, startRawServer } from '../../support/raw-server.ts';
import { selfSigned } from '../../support/self-signed.ts';

/** A host proves who it is by its name, at the address that was checked, before a byte is said to it. */

describe('over TLS', () => {
  it('a TLS connection requests and verifies the name of the host, whatever the address is', async () => {
    const tls = selfSigned(['vendor.example']);
    await using server = await startRawServer({ tls, data: answering(rawAnswer('yes')) });
    await using client = guardedClient({ ca: tls.cert });
    for (let i = 0; i < 2; i++) {
      const answer = await client.send(secure(server.port), request());
      expect(await textOf(answer.body)).toBe('yes');
    }
    expect(server.peers).toHaveLength(1);
    expect((server.peers[0]?.socket as TLSSocket | undefined)?.servername).toBe('vendor.example');
    expect(server.peers[0]?.received).toContain(`host: vendor.example:${server.port}\r\n`);
  });

  it('a TLS connection to a host that is an address verifies that address', async () => {
    const tls = selfSigned(['127.0.0.1']);
    await using server = await startRawServer({ tls, data: answering(rawAnswer('yes')) });
    await using client = guardedClient({ ca: tls.cert });
    const origin = `https://127.0.0.1:${server.port}`;
    const destination = await client.open(`${origin}/`);
    expect(destination).toMatchObject({ origin, addresses: ['127.0.0.1'] });
    expect(await textOf((await client.send(destination, request())).body)).toBe('yes');
    expect((server.peers[0]?.socket as TLSSocket | undefined)?.servername).toBe(false);
  });

  for (const [what, hosts] of [
    ['another name', ['other.example']],
    ['only the address', ['127.0.0.1']],
    ['a name above it', ['example']],
  ] as const) {
    it(`a server whose certificate is for ${what} gets no byte of the request`, async () => {
      const tls = selfSigned(hosts);
      await using server = await startRawServer({ tls });
      await using client = guardedClient({ ca: tls.cert });
      const failed = await failureOf(client.send(secure(server.port), request()));
      expect(failed).toMatchObject({ reason: 'tls', beforeBytes: true });
      await sleep(30);
      expect(server.requests()).toBe(0);
    });
  }

  it('a server with an untrusted certificate gets no request, even if NODE_TLS_REJECT_UNAUTHORIZED allows it', async () => {
    const tls = selfSigned(['vendor.example']);
    await using server = await startRawServer({ tls });
    await using client = guardedClient();
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      const failed = await failureOf(client.send(secure(server.port), request()));
      expect(failed).toMatchObject({ reason: 'tls', beforeBytes: true });
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
    expect(server.requests()).toBe(0);
  });

  it('a server that does not speak TLS, or stops within the handshake, gets no request', async () => {
    for (const connected of [
      ({ socket }: { socket: import('node:net').Socket }) =>
        socket.write('HTTP/1.1 400 Bad\r\n\r\n'),
      ({ socket }: { socket: import('node:net').Socket }) =>
        socket.once('data', () => socket.end()),
      ({ socket }: { socket: import('node:net').Socket }) =>
        socket.once('data', () => socket.resetAndDestroy()),
    ]) {
      await using server = await startRawServer({ connected });
      await using client = guardedClient();
      const failed = await failureOf(client.send(secure(server.port), request()));
      expect(failed).toMatchObject({ reason: 'tls', beforeBytes: true });
    }
  });

  it('a TLS handshake that never ends is aborted in time', async () => {
    await using server = await startRawServer({});
    await using client = guardedClient();
    const timeouts = { connectMs: 150 };
    const failed = await failureOf(client.send(secure(server.port), request({ timeouts })));
    expect(failed).toMatchObject({ reason: 'timeout', beforeBytes: true });
    await expect.poll(() => server.peers[0]?.socket.destroyed).toBe(true);
  });
});

describe('the addresses of a host', () => {
  it('the addresses of a host are tried in turn until one accepts the connection', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('yes')) });
    await using client = guardedClient();
    const destination = at(server.port, { addresses: ['::1', '127.0.0.9', '127.0.0.1'] });
    for (let i = 0; i < 2; i++) {
      const answer = await client.send(destination, request());
      expect(await textOf(answer.body)).toBe('yes');
    }
    // The second call goes straight to where the first had come to.
    expect(server.peers).toHaveLength(1);
  });

  it('connections are kept by origin and address, and not shared between names', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('yes')) });
    await using client = guardedClient();
    for (const host of ['one.example', 'two.example']) {
      const origin = `http://${host}:${server.port}`;
      const destination = at(server.port, { origin, url: `${origin}/`, host });
      expect(await textOf((await client.send(destination, request())).body)).toBe('yes');
    }
    expect(server.peers).toHaveLength(2);
    const elsewhere = at(server.port, { addresses: ['127.0.0.2'] });
    expect(await failureOf(client.send(elsewhere, request()))).toMatchObject({ beforeBytes: true });
  });

  it('requests to a host use the addresses of its first lookup, and no later one', async () => {
    await using server = await startRawServer({ data: answering(rawAnswer('checked')) });
    await using evil = await startRawServer({
      data: answering(rawAnswer('evil')),
      host: '127.0.0.66',
    });
    let lookups = 0;
    const answers = [['127.0.0.1'], ['127.0.0.66']];
    await using client = guardedClient({ resolve: async () => answers[lookups++] ?? [] });
    const destination = await client.open(`http://rebind.example:${server.port}/`);
    for (let i = 0; i < 2; i++) {
      const answer = await client.send(destination, request());
      expect(await textOf(answer.body)).toBe('checked');
      server.peers.at(-1)?.socket.end();
      await sleep(20);
    }
    expect(lookups).toBe(1);
    expect(evil.peers).toHaveLength(0);
  });
});
