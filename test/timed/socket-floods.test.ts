import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FIRST, RawWebSocket } from '../support/raw-web-socket.ts';
import {
  expectNoStall,
  startWatchedServer,
  type WatchedServer,
} from '../support/watched-server.ts';
import { frame, TestSocket } from '../support/web-socket-client.ts';

const MIB = 1024 * 1024;
const RESPONSES = '/v1/responses';
const LISTEN = '/v1/listen?model=local/pocketsphinx&encoding=linear16';

let server: WatchedServer;
beforeAll(async () => {
  server = await startWatchedServer('http://127.0.0.1:9/v1');
  // Code that runs for the first time is compiled.
  await flood(2, RESPONSES, many(EMPTY, MIB));
  // A recogniser takes seconds to load.
  const headers = { authorization: `Bearer ${server.keys[0]}` };
  const listening = new TestSocket(server.url.replace('http', 'ws') + LISTEN, [], headers);
  await listening.opened();
  listening.ws.close();
  await listening.closed;
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const EMPTY = frame(FIRST.text, Buffer.from('{}'));
const SILENCE = frame(FIRST.binary, Buffer.alloc(2));
const PING = frame(FIRST.ping, Buffer.alloc(0));

const many = (one: Buffer, bytes: number): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(bytes / one.length) }, () => one));

/** Sends the same bytes on each of some sockets at once. Resolves with how each of them ended. */
async function flood(sockets: number, path: string, bytes: Buffer, key = server.poorKey) {
  const port = Number(new URL(server.url).port);
  const opened = await Promise.all(
    Array.from({ length: sockets }, () => RawWebSocket.open(port, path, key)),
  );
  for (const socket of opened) socket.send(bytes);
  return Promise.all(opened.map((socket) => socket.fate(() => false, 30_000)));
}

/** Behind what closes a socket for good there is no bound that names another code. */
const expectAllClosed = (fates: readonly unknown[]) =>
  expect(
    fates.every((fate) => fate === 1008 || fate === 'cut'),
    `${fates}`,
  ).toBe(true);

const FLOODS: Readonly<Record<string, () => Promise<unknown[]>>> = {
  '40 MB of empty objects over five response sockets': () =>
    flood(5, RESPONSES, many(EMPTY, 8_000_000)),
  '40 MB of empty objects over twenty response sockets': () =>
    flood(20, RESPONSES, many(EMPTY, 2_000_000)),
  '40 MB of empty objects over five realtime sockets': () =>
    flood(5, '/v1/realtime?model=local/realtime', many(EMPTY, 8_000_000), server.keys[0]),
  '40 MB of empty objects over five speaking sockets': () =>
    flood(5, '/v1/speak?model=local/flite', many(EMPTY, 8_000_000), server.keys[0]),
  '20 MB of single samples over a listening socket': () =>
    flood(1, LISTEN, many(SILENCE, 20_000_000), server.keys[0]),
  '20 MB of empty objects over a transcription socket': () =>
    flood(
      1,
      '/v1/audio/transcriptions/stream?model=local/pocketsphinx',
      many(EMPTY, 20_000_000),
      server.keys[0],
    ),
  '40 MB of pings over five sockets': () => flood(5, RESPONSES, many(PING, 8_000_000)),
  '40 MB of pings over twenty sockets': () => flood(20, RESPONSES, many(PING, 2_000_000)),
};

describe('the event loop of a server whose sockets are flooded', () => {
  it.each(Object.entries(FLOODS))(
    'the event loop of a server with flooded sockets stalls for at most 50 ms at %s',
    async (_, attack) => {
      // A server of its own: the connections of another flood count against the limits of this one.
      await using fresh = await startWatchedServer('http://127.0.0.1:9/v1');
      const usual = server;
      server = fresh;
      try {
        await expectNoStall(fresh, async () => expectAllClosed(await attack()));
      } finally {
        server = usual;
      }
    },
    180_000,
  );
});

describe('the memory of a server whose sockets are flooded', () => {
  it.each([
    [5, 8_000_000],
    [20, 2_000_000],
  ])(
    'the memory of a server with flooded sockets grows by less than 100 MiB over %i sockets',
    async (sockets, bytes) => {
      // One that has served nothing big yet: another has memory left over that it grows into unseen.
      await using fresh = await startWatchedServer('http://127.0.0.1:9/v1');
      const usual = server;
      server = fresh;
      try {
        const { rssBytes } = await fresh.watch(() => flood(sockets, RESPONSES, many(EMPTY, bytes)));
        expect(rssBytes / MIB).toBeLessThan(100);
      } finally {
        server = usual;
      }
    },
    120_000,
  );
});
