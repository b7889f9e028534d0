import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { HTTP_LIMITS } from '../../../src/http/limits.ts';
import {
  type SocketConnection,
  type SocketHandler,
  socketRoute,
} from '../../../src/http/route/socket-route.ts';
import { gatewayErrors } from '../../../src/models/errors.ts';
import { bearer, type Edge, KEYS, startEdge } from '../../support/edge.ts';
import { RawSocket, rawRequest } from '../../support/raw-socket.ts';
import { frame, rawUpgrade, refusal, TestSocket } from '../../support/web-socket-client.ts';

const MIB = 1024 * 1024;

/** What the handlers saw, newest last. */
const seen = {
  heard: [] as unknown[],
  closed: [] as number[],
  connections: [] as SocketConnection[],
};

/** The upgrade for the model `slow`, which waits until the test lets it go on. */
let waiting: { readonly client: AbortSignal; readonly go: () => void } | undefined;

function echo(): SocketHandler {
  let connection: SocketConnection | undefined;
  return {
    opened(opened) {
      connection = opened;
      seen.connections.push(opened);
      opened.send('hello');
    },
    message(data) {
      if (typeof data === 'string') seen.heard.push(data);
      if (data === 'throw') throw new Error('a bug');
      if (data === 'reject') return Promise.reject(new Error('a late bug')) as never;
      if (data === 'flood') return flood(connection as SocketConnection);
      connection?.send(data);
    },
    closed(code) {
      seen.closed.push(code);
    },
  };
}

function flood(connection: SocketConnection): void {
  const block = new Uint8Array(MIB);
  for (let i = 0; i < 64 && connection.isOpen; i++) connection.send(block);
}

const Query = z.object({ model: z.string(), sample_rate: z.coerce.number().int().optional() });

const plain = socketRoute()({
  path: '/v1/echo',
  credential: 'agent',
  summary: 'test',
  authenticateFrom: ['bearer', 'subprotocol', 'query'],
  protocols: ['svc-echo'],
  keyProtocolPrefix: 'insecure-key.',
  query: Query,
  envelope: 'openai',
  async open({ query, signal }) {
    if (query.model === 'slow') {
      await new Promise<void>((go) => {
        waiting = { client: signal, go };
      });
    }
    if (query.model === 'broke') throw gatewayErrors.budgetExhausted({ required: '1' });
    if (query.model === 'bug') throw new Error('a bug');
    return echo();
  },
});

const headerOnly = socketRoute()({
  path: '/v1/strict',
  credential: 'agent',
  summary: 'test',
  authenticateFrom: ['bearer'],
  protocols: [],
  maxMessageBytes: 10,
  open: () => echo(),
});

let edge: Edge;
let base: string;
beforeAll(async () => {
  edge = await startEdge({
    sockets: [plain, headerOnly],
    rateLimits: { gatewayPerMinute: 10_000 },
    socketCaps: { perAgent: 4, perAddress: 6 },
  });
  base = `ws://127.0.0.1:${edge.port}`;
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await expect.poll(() => edge.server.openSockets).toBe(0);
  seen.closed.length = 0;
  seen.heard.length = 0;
  seen.connections.length = 0;
});
afterEach(() => {
  waiting?.go();
  waiting = undefined;
});

const MODEL = '/v1/echo?model=m';

async function connect(path = MODEL, key: string = KEYS.agent): Promise<TestSocket> {
  const socket = new TestSocket(base + path, [], bearer(key));
  await socket.opened();
  return socket;
}

describe('an upgrade', () => {
  it('an upgrade takes the key from the header, a sub-protocol or the query, and never echoes it', async () => {
    const byHeader = await connect();
    const byProtocol = new TestSocket(base + MODEL, ['svc-echo', KEYS.agent]);
    const byPrefix = new TestSocket(base + MODEL, [`insecure-key.${KEYS.agent}`, 'svc-echo']);
    const byQuery = new TestSocket(`${base}${MODEL}&api_key=${KEYS.agent}`);
    await Promise.all([byProtocol.opened(), byPrefix.opened(), byQuery.opened()]);
    expect(byProtocol.ws.protocol).toBe('svc-echo');
    expect(byPrefix.ws.protocol).toBe('svc-echo');
    for (const socket of [byHeader, byProtocol, byPrefix, byQuery]) {
      await expect.poll(() => socket.texts).toEqual(['hello']);
      socket.ws.close(1000);
      await socket.closed;
    }
    await expect.poll(() => seen.closed).toEqual([1000, 1000, 1000, 1000]);
  });

  it('a refused upgrade gets a plain HTTP response in the error envelope of its route', async () => {
    const anonymous = await refusal(base + MODEL);
    expect([anonymous.status, anonymous.body.error]).toMatchObject([
      401,
      { code: 'missing_or_invalid_authorization_header', type: 'authentication_error' },
    ]);
    const developer = await refusal(base + MODEL, [], bearer(KEYS.developer));
    expect(developer.body).toMatchObject({ error: { code: 'wrong_credential_type' } });
    expect((await refusal(base + MODEL, [], bearer('svc_unknown'))).status).toBe(401);
    expect((await refusal(base + MODEL, [], bearer(KEYS.agentReadOnly))).status).toBe(403);
    expect((await refusal(base + MODEL, [], bearer(KEYS.suspended))).status).toBe(403);

    const badQuery = await refusal(`${base}/v1/echo`, [], bearer(KEYS.agent));
    expect([badQuery.status, badQuery.body.error]).toMatchObject([400, { param: 'model' }]);
    const broke = await refusal(`${base}/v1/echo?model=broke`, [], bearer(KEYS.agent));
    expect([broke.status, broke.body.error]).toMatchObject([402, { code: 'budget_exhausted' }]);
    const bug = await refusal(`${base}/v1/echo?model=bug`, [], bearer(KEYS.agent));
    expect([bug.status, bug.body.error]).toMatchObject([500, { code: 'internal_error' }]);
    expect(edge.server.openSockets).toBe(0);
  });

  it('an upgrade takes no key from the query unless its route allows it, since the key would land in access logs', async () => {
    const flat = await refusal(`${base}/v1/strict?api_key=${KEYS.agent}`);
    expect([flat.status, flat.body.error]).toEqual([
      401,
      'Missing or invalid Authorization header',
    ]);
  });

  it('a socket route answers 426 to a request that is no upgrade or of another WebSocket version', async () => {
    const asked = await fetch(`${edge.url}${MODEL}`, { headers: bearer(KEYS.agent) });
    expect([asked.status, asked.headers.get('upgrade')]).toEqual([426, 'websocket']);
    const posted = await fetch(`${edge.url}${MODEL}`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, OPTIONS']);
    const wrong = [
      ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 12'],
      ['Upgrade: websocket', 'Connection: close', 'Sec-WebSocket-Version: 13'],
      ['Upgrade: h2c', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
      ['Connection: keep-alive, Upgrade', 'Sec-WebSocket-Version: 13'],
      ['Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    ];
    for (const lines of wrong) {
      const socket = await RawSocket.open(edge.port);
      socket.send(
        rawRequest(`GET ${MODEL}`, [
          ...lines,
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
          `Authorization: Bearer ${KEYS.agent}`,
        ]),
      );
      const received = await socket.untilClosed();
      expect(received).toContain('426 Upgrade Required');
      expect(received).toContain('sec-websocket-version: 13');
    }
    const named = await RawSocket.open(edge.port);
    named.send(
      rawRequest(`GET ${MODEL}`, [
        'upgrade: WebSocket',
        'connection: keep-alive, upgrade',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        `Authorization: Bearer ${KEYS.agent}`,
      ]),
    );
    await named.until((received) => received.includes('hello'));
    named.destroy();
  });

  it('an upgrade whose client leaves before it completes is closed with 1006 and leaves no open socket', async () => {
    const socket = new TestSocket(`${base}/v1/echo?model=slow`, [], bearer(KEYS.agent));
    await expect.poll(() => edge.server.openSockets).toBe(1);
    socket.ws.terminate();
    await expect.poll(() => waiting?.client.aborted).toBe(true);
    waiting?.go();
    await expect.poll(() => seen.closed).toEqual([1006]);
    expect(seen.connections).toEqual([]);
    expect(edge.server.openSockets).toBe(0);
  });

  it('an upgrade beyond the socket limit of its agent or its address is refused', async () => {
    const mine = await Promise.all([1, 2, 3, 4].map(() => connect()));
    const fifth = await refusal(base + MODEL, [], bearer(KEYS.agent));
    expect([fifth.status, fifth.body.error]).toMatchObject([429, { code: 'too_many_connections' }]);
    const others = await Promise.all([1, 2].map(() => connect(MODEL, KEYS.otherAgent)));
    expect((await refusal(base + MODEL, [], bearer(KEYS.otherAgent))).status).toBe(429);

    mine[0]?.ws.close();
    await mine[0]?.closed;
    await expect.poll(() => edge.server.openSockets).toBe(5);
    const again = await connect();
    for (const socket of [...mine, ...others, again]) socket.ws.close();
  });
});

describe('messages', () => {
  it('a socket handler receives text and binary messages, and its own are sent in the same form', async () => {
    const socket = await connect();
    socket.ws.send('grüße');
    socket.ws.send(Buffer.of(1, 2, 255));
    await expect.poll(() => socket.texts).toEqual(['hello', 'grüße']);
    await expect.poll(() => socket.binaries).toEqual([Buffer.of(1, 2, 255)]);
    socket.ws.close();
  });

  it('a socket message just over 1 MiB closes the socket with a 1009 frame', async () => {
    const socket = await connect();
    socket.ws.send(Buffer.alloc(MIB + 1));
    expect((await socket.closed).code).toBe(1009);
    expect(seen.closed).toEqual([1009]);
  });

  it('a socket message above the route limit closes 1009, and one of exactly the limit passes', async () => {
    const socket = await connect('/v1/strict');
    socket.ws.send(Buffer.alloc(10));
    await expect.poll(() => socket.binaries.length).toBe(1);
    socket.ws.send(Buffer.alloc(11));
    expect(await socket.closed).toEqual({
      code: 1009,
      reason: 'a message may have at most 10 bytes',
    });
  });

  it('a socket that sends more bytes than its rate limit is closed 1008 with the limit in the reason', async () => {
    const socket = await connect();
    const most = (2 * HTTP_LIMITS.socket.rates.bytes.burst) / MIB;
    // The test waits for each: bytes that are not read yet would break the connection before its close is read.
    for (let sent = 1; sent <= most && seen.closed.length === 0; sent++) {
      socket.ws.send(Buffer.alloc(MIB));
      await expect
        .poll(() => socket.binaries.length === sent || seen.closed.length === 1)
        .toBe(true);
    }
    const { code, reason } = await socket.closed;
    expect([code, reason]).toEqual([1008, 'more than 16 MiB at once and 1 MiB a second']);
  });

  it('all messages of a client that leaves at once are handled before its close', async () => {
    const socket = await connect();
    for (let i = 0; i < 500; i++) socket.ws.send(`message ${i}`);
    socket.ws.close();
    await expect.poll(() => seen.closed.length).toBe(1);
    expect(seen.heard).toEqual(Array.from({ length: 500 }, (_, i) => `message ${i}`));
  });

  it('a message above the socket library’s limit cuts the connection without a frame, and the client reads 1006', async () => {
    const socket = await connect();
    socket.ws.send(Buffer.alloc(2 * MIB));
    expect((await socket.closed).code).toBe(1006);
    await expect.poll(() => seen.closed.length).toBe(1);
  });

  it('a message that makes its handler throw or reject closes that socket with 1011, and no other', async () => {
    const other = await connect();
    for (const message of ['throw', 'reject']) {
      const socket = await connect();
      socket.ws.send(message);
      expect(await socket.closed).toEqual({ code: 1011, reason: 'internal error' });
    }
    other.ws.send('still here');
    await expect.poll(() => other.texts).toContain('still here');
    other.ws.close();
  });

  it('a socket whose client does not read its messages is closed with 1013 instead of holding memory', async () => {
    const socket = await connect();
    await expect.poll(() => socket.texts.length).toBe(1);
    socket.ws.pause();
    socket.ws.send('flood');
    await expect.poll(() => seen.closed).toEqual([1013]);
    expect(seen.connections[0]?.isOpen).toBe(false);
    socket.ws.terminate();
  });
});

describe('what the socket library decides', () => {
  it('the socket library ignores the mask bit: an unmasked frame passes as if it were masked', async () => {
    const socket = await rawUpgrade(edge.port, MODEL, [`Authorization: Bearer ${KEYS.agent}`]);
    const zeroMask = Buffer.alloc(4);
    socket.send(Buffer.concat([Buffer.of(0x81, 4), zeroMask, Buffer.from('bare')]));
    expect(await socket.until((text) => text.includes('bare'))).toContain('bare');
    expect(socket.isClosed).toBe(false);
    socket.destroy();
  });

  it('the socket library cuts the connection on a malformed frame, and the handler gets its close', async () => {
    const bad: [string, Buffer][] = [
      ['a reserved opcode', frame(0x83, Buffer.from('x'))],
      ['a reserved bit', frame(0xc1, Buffer.from('x'))],
      ['text that is not UTF-8', frame(0x81, Buffer.of(0xff, 0xfe))],
      ['a continuation of nothing', frame(0x80, Buffer.from('x'))],
    ];
    for (const [what, bytes] of bad) {
      const socket = await rawUpgrade(edge.port, MODEL, [`Authorization: Bearer ${KEYS.agent}`]);
      socket.send(bytes);
      await socket.untilClosed();
      await expect.poll(() => edge.server.openSockets, { message: what }).toBe(0);
    }
    expect(seen.closed).toEqual([1006, 1006, 1006, 1006]);
  });
});

describe('revocation', () => {
  it('revoking a key closes its sockets with 1008 at once and leaves other sockets open', async () => {
    const revoked = await connect();
    const other = await connect(MODEL, KEYS.otherAgent);
    edge.server.closeAgentSockets(7, 999);
    expect(revoked.ws.readyState).toBe(1);
    const startedMs = performance.now();
    edge.server.closeAgentSockets(7, 70);
    expect((await revoked.closed).code).toBe(1008);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
    expect(other.ws.readyState).toBe(1);
    edge.server.closeAgentSockets(8);
    expect((await other.closed).code).toBe(1008);
  });

  it('revoking a key closes a socket whose upgrade was still in progress', async () => {
    const socket = new TestSocket(`${base}/v1/echo?model=slow`, [], bearer(KEYS.agent));
    await expect.poll(() => edge.server.openSockets).toBe(1);
    edge.server.closeAgentSockets(7);
    waiting?.go();
    expect((await socket.closed).code).toBe(1008);
  });
});

describe('draining', () => {
  it('a draining server closes plain sockets with 1012, lets long ones finish, and refuses new ones', async () => {
    let finish = () => {};
    const lasting = socketRoute()({
      path: '/v1/lasting',
      credential: 'agent',
      summary: 'test',
      authenticateFrom: ['bearer'],
      protocols: [],
      open(): SocketHandler {
        let mine: SocketConnection | undefined;
        return {
          opened(connection) {
            mine = connection;
          },
          message() {},
          draining() {
            finish = () => {
              mine?.send('goodbye');
              mine?.close(1000, 'finished');
            };
          },
          closed() {},
        };
      },
    });
    const leaving = await startEdge({ sockets: [plain, lasting] });
    const url = `ws://127.0.0.1:${leaving.port}`;
    const short = new TestSocket(url + MODEL, [], bearer(KEYS.agent));
    const long = new TestSocket(`${url}/v1/lasting`, [], bearer(KEYS.agent));
    await Promise.all([short.opened(), long.opened()]);

    const drained = leaving.server.drain(5_000);
    expect((await short.closed).code).toBe(1012);
    expect(long.ws.readyState).toBe(1);
    finish();
    expect(await long.closed).toEqual({ code: 1000, reason: 'finished' });
    expect(long.texts).toEqual(['goodbye']);
    await drained;
  });
});
