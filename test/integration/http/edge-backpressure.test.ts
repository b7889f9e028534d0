import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { socketRoute } from '../../../src/http/route/socket-route.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { MessageSource } from '../../../src/platform/messages/message-lane.ts';
import { MessageQueue } from '../../../src/platform/messages/message-queue.ts';
import { bearer, type Edge, KEYS, startEdge } from '../../support/edge.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { TestSocket } from '../../support/web-socket-client.ts';

const MIB = 1024 * 1024;
const KIB = 1024;

/** A line in which messages wait until the test lets them go on. */
class StoppedLine extends MessageQueue {
  readonly waiting: { source: MessageSource; bytes: Uint8Array; isBinary: boolean }[] = [];
  isStopped = true;

  override hasTime(nowMs: number): boolean {
    return !this.isStopped && super.hasTime(nowMs);
  }

  override keep(message: ArrayBuffer): Uint8Array {
    return new Uint8Array(message.slice(0));
  }

  override wait(source: MessageSource, bytes: Uint8Array, isBinary: boolean): void {
    if (this.isStopped) this.waiting.push({ source, bytes, isBinary });
    else super.wait(source, bytes, isBinary);
  }

  get bytes(): number {
    return this.waiting.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  }

  goOn(): void {
    this.isStopped = false;
    for (const { bytes, isBinary, source } of this.waiting.splice(0)) {
      super.wait(source, bytes, isBinary);
    }
  }
}

const heard: string[] = [];
const closed: number[] = [];
const socket = socketRoute()({
  path: '/v1/listener',
  credential: 'agent',
  summary: 'test',
  authenticateFrom: ['bearer'],
  protocols: [],
  open: () => ({
    opened: (connection) => connection.send('hello'),
    message: (data) => heard.push(Buffer.from(data).subarray(0, 8).toString()),
    closed: (code) => closed.push(code),
  }),
});

beforeEach(() => {
  heard.length = 0;
  closed.length = 0;
});

let edge: Edge;
afterEach(() => edge[Symbol.asyncDispose]());

const directory = mkdtempSync(join(tmpdir(), 'svc-backpressure-'));
afterAll(() => rmSync(directory, { recursive: true }));
const { cert, key } = selfSigned(['127.0.0.1']);

function tlsFiles() {
  const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
  return files;
}

async function connect(scheme: 'ws' | 'wss' = 'ws'): Promise<TestSocket> {
  const url = `${scheme}://127.0.0.1:${edge.port}/v1/listener`;
  const client = new TestSocket(url, [], bearer(KEYS.agent), cert);
  await client.opened();
  await expect.poll(() => client.texts.length).toBe(1);
  return client;
}

const pong = (client: TestSocket): Promise<void> => {
  client.ws.ping();
  return new Promise((resolve) => client.ws.once('pong', () => resolve()));
};

const numbered = (count: number, bytes: number): Buffer[] =>
  Array.from({ length: count }, (_, i) =>
    Buffer.concat([Buffer.from(String(i).padStart(8, '0')), randomBytes(bytes - 8)]),
  );
const numbers = (count: number) =>
  Array.from({ length: count }, (_, i) => String(i).padStart(8, '0'));

describe('a socket with messages that wait', () => {
  it.each([
    ['in the clear', 'ws'],
    ['over TLS', 'wss'],
  ] as const)(
    'a socket %s with waiting messages is read no further while others are, and loses no message',
    async (_, scheme) => {
      const line = new StoppedLine(systemClock);
      const tls = scheme === 'wss' ? tlsFiles() : undefined;
      edge = await startEdge({ sockets: [socket], line, tls });
      const [client, other] = [await connect(scheme), await connect(scheme)];
      // 14 MiB: the system keeps some, and the budget of the socket is 16.
      const messages = numbered(224, 64 * KIB);
      for (const message of messages) client.ws.send(message);
      await expect.poll(() => line.waiting.length).toBeGreaterThan(4);
      let isRead = false;
      const answer = pong(client).then(() => {
        isRead = true;
      });
      for (let i = 0; i < 20; i++) await pong(other);
      expect(isRead).toBe(false);
      // Of one read of the library there may be 512 KiB, and as much as the system keeps where it comes at once.
      expect(line.bytes).toBeLessThan(10 * MIB);
      const stopped = line.waiting.length;
      for (let i = 0; i < 20; i++) await pong(other);
      expect(line.waiting).toHaveLength(stopped);

      line.goOn();
      await answer;
      await expect.poll(() => heard.length).toBe(224);
      expect(heard).toEqual(numbers(224));
      expect(closed).toEqual([]);
      client.ws.close(1000);
      await expect.poll(() => closed).toEqual([1000]);
    },
  );

  it('a socket that is not read because messages wait can be closed from either side', async () => {
    const line = new StoppedLine(systemClock);
    edge = await startEdge({ sockets: [socket], line });
    const [client, leaving] = [await connect(), await connect()];
    for (const message of numbered(96, 64 * KIB)) client.ws.send(message);
    await expect.poll(() => line.waiting.length).toBeGreaterThan(4);
    edge.server.closeAgentSockets(7);
    expect(await client.closed).toMatchObject({ code: 1008, reason: 'credential revoked' });
    expect((await leaving.closed).code).toBe(1008);
    await expect.poll(() => edge.server.openSockets).toBe(0);
  });

  it('a socket with more than 8,192 waiting messages is closed with 1008 at once', async () => {
    const line = new StoppedLine(systemClock);
    edge = await startEdge({ sockets: [socket], line });
    const client = await connect();
    for (let i = 0; i < 40_000; i++) client.ws.send('{}');
    expect(await client.closed).toEqual({
      code: 1008,
      reason: 'messages come faster than they are handled',
    });
    expect(line.waiting.length).toBeLessThanOrEqual(8_192);
  });
});

describe('an honest client', () => {
  it('a socket client that sends two minutes of audio at once in 20 ms frames is heard in order', async () => {
    edge = await startEdge({ sockets: [socket] });
    const client = await connect();
    for (const message of numbered(6_000, 640)) client.ws.send(message);
    await expect.poll(() => heard.length + closed.length, { timeout: 20_000 }).toBe(6_000);
    expect(heard).toEqual(numbers(6_000));
  });

  it('a socket client that sends bursts of 500 small frames is heard in order', async () => {
    edge = await startEdge({ sockets: [socket] });
    const clients = await Promise.all([1, 2, 3, 4].map(() => connect()));
    for (let burst = 0; burst < 4; burst++) {
      heard.length = 0;
      for (const { ws } of clients) for (const message of numbered(500, 10)) ws.send(message);
      await expect.poll(() => heard.length + closed.length, { timeout: 20_000 }).toBe(2_000);
      expect(heard.toSorted()).toEqual(numbers(500).flatMap((number) => Array(4).fill(number)));
    }
    expect(closed).toEqual([]);
  });
});
