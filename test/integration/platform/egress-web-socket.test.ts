import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createDestinationGuard } from '../../../src/platform/egress/destination-guard.ts';
import { openWebSocket } from '../../../src/platform/egress/open-web-socket.ts';
import { selfSigned } from '../../support/self-signed.ts';

type Options = { readonly allowLocalhost?: boolean; readonly connectMs?: number };

async function listening(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function opener({ allowLocalhost = true, connectMs = 5_000 }: Options = {}, ca?: string) {
  const stopping = new AbortController();
  const resolve = async () => ['127.0.0.1'];
  const clock = systemClock;
  const guard = createDestinationGuard({ resolve, clock, allowLocalhost, domainAllowlist: [] });
  const bounds = { connectMs, maxMessageBytes: 100, signal: stopping.signal };
  return { stopping, open: (url: string) => openWebSocket({ guard, clock, ca }, url, bounds) };
}

const failureOf = (opening: Promise<unknown>) =>
  opening.then(
    () => 'opened',
    (error: Error & { reason?: string }) => `${error.name}: ${error.reason ?? ''}`,
  );

/** Sends each client what comes from it, and a greeting at once. */
function echo(server: Server) {
  new WebSocketServer({ server }).on('connection', (ws) => {
    ws.send('hello');
    ws.on('message', (data, binary) => ws.send(data, { binary }));
  });
  return server;
}

describe('a WebSocket to an address that a caller chose', () => {
  it('an outgoing WebSocket opens, and delivers messages that came before it had a listener', async () => {
    await using peer = await listening(echo(createServer()));
    const ws = await opener().open(`ws://app.example:${peer.port}/relay?token=1`);
    await new Promise((resolve) => setImmediate(resolve));
    const said = new Promise<string>((resolve) =>
      ws.once('message', (data) => resolve(String(data))),
    );
    ws.resume();
    expect(await said).toBe('hello');
    ws.terminate();
  });

  it('an outgoing WebSocket verifies by TLS that the server is the requested host', async () => {
    const { cert, key } = selfSigned(['app.example']);
    await using peer = await listening(echo(createTlsServer({ cert, key })));
    const ws = await opener({}, cert).open(`wss://app.example:${peer.port}/`);
    expect(ws.readyState).toBe(ws.OPEN);
    ws.terminate();
    const other = opener({}, cert).open(`wss://other.example:${peer.port}/`);
    expect(await failureOf(other)).toBe('SendFailed: tls');
  });

  it('an outgoing WebSocket to a blocked destination is refused without a connection', async () => {
    await using peer = await listening(echo(createServer()));
    const { open } = opener({ allowLocalhost: false });
    const urls = [`ws://app.example:${peer.port}/`, 'wss://169.254.169.254/', 'file:///etc/passwd'];
    for (const url of urls) {
      expect(await failureOf(open(url))).toMatch(/^BlockedDestination: /);
    }
  });

  it('an outgoing WebSocket fails on a response that is no handshake, and follows no redirect', async () => {
    let requests = 0;
    await using peer = await listening(
      createServer((_, response) => {
        requests++;
        response.writeHead(302, { location: '/again' }).end();
      }),
    );
    const opening = opener().open(`ws://app.example:${peer.port}/`);
    expect([await failureOf(opening), requests]).toEqual(['SendFailed: broken', 1]);
  });

  it('an outgoing WebSocket fails when the handshake takes too long, and when it is aborted', async () => {
    const silent = createServer().on('upgrade', (_, socket) => {
      socket.on('error', () => {}).on('end', () => socket.destroy());
      socket.resume();
    });
    await using peer = await listening(silent);
    const url = `ws://app.example:${peer.port}/`;
    expect(await failureOf(opener({ connectMs: 50 }).open(url))).toBe('SendFailed: timeout');
    const { open, stopping } = opener();
    const asked = new Promise((resolve) => silent.once('upgrade', resolve));
    const opening = failureOf(open(url));
    await asked;
    stopping.abort();
    expect(await opening).toBe('SendFailed: aborted');
  });

  it('an outgoing WebSocket fails when nothing listens', async () => {
    const peer = await listening(createServer());
    await peer[Symbol.asyncDispose]();
    const opening = opener().open(`ws://app.example:${peer.port}/`);
    expect(await failureOf(opening)).toBe('SendFailed: unreachable');
  });

  it('an outgoing WebSocket closes when it receives a message that is too long', async () => {
    await using peer = await listening(echo(createServer()));
    const ws = await opener().open(`ws://app.example:${peer.port}/`);
    const closed = new Promise((resolve) => ws.once('close', resolve));
    ws.resume();
    ws.send('x'.repeat(101));
    await closed;
    expect(ws.readyState).toBe(ws.CLOSED);
  });
});
