import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EGRESS_LIMITS } from '../../../src/platform/egress/limits.ts';
import { BodyTooLarge, SendFailed } from '../../../src/platform/egress/send-failed.ts';
import { at, failureOf, guardedClient, request, secure, textOf } from '../../support/guarded.ts';
import { type RawPeer, startRawServer } from '../../support/raw-server.ts';
import { selfSigned } from '../../support/self-signed.ts';

/** Whatever a server does, in whatever order: one request a call at most, a typed outcome, and a process that lives on. */

type Step = (peer: RawPeer) => unknown;

const says =
  (text: string): Step =>
  ({ socket }) =>
    socket.write(text, 'latin1');

const HEADS = [
  'HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 70000\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.0 200 OK\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\n\r\n',
  'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 5\r\n\r\n',
  'HTTP/1.1 20',
  'nonsense\r\n\r\n',
];

const PIECES = [
  'hello',
  '5\r\nhello\r\n',
  '0\r\n\r\n',
  '0\r\nX-Trailer: t\r\n\r\n',
  'ffffffffffffffffff\r\n',
  '\r\n',
  'x'.repeat(65_536),
  'x'.repeat(70_000),
  'x'.repeat(200_000),
  `11170\r\n${'x'.repeat(70_000)}\r\n`,
  '1\r\nx\r\n'.repeat(5_000),
];

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HEADS).map(says) },
  { weight: 6, arbitrary: fc.constantFrom(...PIECES).map(says) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(1, 5, 30).map(
      (ms): Step =>
        () =>
          sleep(ms),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>(({ socket }) => socket.end()) },
  { weight: 1, arbitrary: fc.constant<Step>((peer) => peer.reset()) },
  { weight: 1, arbitrary: fc.constant<Step>(({ socket }) => socket.destroy()) },
);

const server = fc.record({
  first: fc.option(fc.constantFrom(...HEADS).map(says), { nil: undefined, freq: 6 }),
  steps: fc.array(step, { maxLength: 8 }),
  /** Before anything was asked. */
  isHasty: fc.boolean(),
  isSecure: fc.boolean(),
});

const reader = fc.record({
  method: fc.constantFrom('GET', 'POST', 'HEAD' as const),
  pauseMs: fc.constantFrom(0, 0, 3, 40),
  leavesAfter: fc.option(fc.nat(3), { nil: undefined }),
  abortsAfterMs: fc.option(fc.nat(60), { nil: undefined }),
  discards: fc.boolean(),
});

type Reader = typeof reader extends fc.Arbitrary<infer T> ? T : never;

async function read(body: AsyncIterable<Uint8Array>, { pauseMs, leavesAfter }: Reader) {
  let chunks = 0;
  for await (const _ of body) {
    if (pauseMs > 0) await sleep(pauseMs);
    if (chunks++ === leavesAfter) return;
  }
}

const TLS = selfSigned(['vendor.example']);

const RUNS = Number(process.env.HOSTILE_RUNS ?? 150);

describe('a server that leaves while its answer waits for the reader', () => {
  const sizes = [65_536, EGRESS_LIMITS.response.queueBytes, 200_000, 400_000];
  const framings = {
    'by its end': () => 'HTTP/1.1 200 OK\r\n\r\n',
    'by its length': (size: number) =>
      `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`,
  };
  for (const [framing, head] of Object.entries(framings)) {
    for (const isSecure of [false, true]) {
      const over = isSecure ? ' over TLS' : '';
      it(`a server that closes before a slow reader has read loses nothing of a body framed ${framing}${over}`, async () => {
        for (const size of sizes) {
          await using raw = await startRawServer({
            ...(isSecure ? { tls: TLS } : {}),
            data: ({ socket }) => {
              socket.write(head(size));
              socket.end(Buffer.alloc(size, 'x'));
            },
          });
          await using client = guardedClient({ ca: TLS.cert });
          const { body } = await client.send(isSecure ? secure(raw.port) : at(raw.port), request());
          await sleep(60);
          expect((await textOf(body)).length).toBe(size);
        }
      });
    }
  }

  for (const isSecure of [false, true]) {
    const over = isSecure ? ' over TLS' : '';
    it(`a response body that breaks off before its length fails for a slow reader${over}`, async () => {
      for (const size of sizes) {
        await using raw = await startRawServer({
          ...(isSecure ? { tls: TLS } : {}),
          data: (peer) => {
            peer.socket.write(framings['by its length'](size + 1));
            peer.socket.write(Buffer.alloc(size, 'x'));
            setTimeout(() => peer.reset(), 20);
          },
        });
        await using client = guardedClient({ ca: TLS.cert });
        const { body } = await client.send(isSecure ? secure(raw.port) : at(raw.port), request());
        await sleep(60);
        expect(await failureOf(textOf(body))).toMatchObject({ reason: 'broken' });
      }
    });

    it(`a response body without a length that breaks off fails for its reader${over}`, async () => {
      await using raw = await startRawServer({
        ...(isSecure ? { tls: TLS } : {}),
        data: ({ socket }) => socket.write(`${framings['by its end']()}hello`),
      });
      await using client = guardedClient({ ca: TLS.cert });
      const { body } = await client.send(isSecure ? secure(raw.port) : at(raw.port), request());
      const read = async () => {
        for await (const _ of body) raw.peers[0]?.reset();
      };
      expect(await failureOf(read())).toMatchObject({ reason: 'broken' });
    });
  }
});

describe('any server and any reader', () => {
  it('any server and any reader end in a response or a typed failure, with at most one request', async () => {
    const property = fc.asyncProperty(
      server,
      fc.array(reader, { minLength: 1, maxLength: 4 }),
      play,
    );
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  }, 600_000);
});

async function play(
  { first, steps, isHasty, isSecure }: typeof server extends fc.Arbitrary<infer T> ? T : never,
  readers: readonly Reader[],
): Promise<void> {
  const perform = async (peer: RawPeer) => {
    for (const one of first === undefined ? steps : [first, ...steps]) {
      if (peer.socket.destroyed) return;
      await one(peer);
    }
  };
  await using raw = await startRawServer({
    ...(isSecure ? { tls: TLS } : {}),
    connected: (peer) => {
      if (isHasty) void perform(peer);
    },
    data: (peer) => {
      if (!isHasty) void perform(peer);
    },
  });
  const client = guardedClient({ ca: TLS.cert });
  const calls = readers.map(async (one, i) => {
    if (i % 2 === 1) await sleep(10);
    const stop = new AbortController();
    if (one.abortsAfterMs !== undefined) setTimeout(() => stop.abort(), one.abortsAfterMs);
    const marker = `call-${i}.`;
    const timeouts = { firstByteMs: 60, idleMs: 60, totalMs: 200 };
    try {
      const answer = await client.send(
        isSecure ? secure(raw.port) : at(raw.port),
        request({
          method: one.method,
          headers: [['x-call', marker]],
          signal: stop.signal,
          timeouts,
          maxResponseBytes: 500_000,
        }),
      );
      expect(answer.status).toBeGreaterThanOrEqual(200);
      if (one.discards) answer.discard();
      else await read(answer.body, one);
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) expect(error).toBeInstanceOf(SendFailed);
      const unsent = error instanceof SendFailed && error.beforeBytes;
      return { marker, unsent };
    }
    return { marker, unsent: false };
  });
  for (const { marker, unsent } of await Promise.all(calls)) {
    const seen = raw.peers.map(({ received }) => received.split(marker).length - 1);
    expect(seen.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(unsent ? 0 : 1);
  }
  await client[Symbol.asyncDispose]();
  await expect
    .poll(() => raw.peers.every(({ socket }) => socket.destroyed), { interval: 2 })
    .toBe(true);
}
