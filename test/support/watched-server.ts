import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { joined } from './compiled.ts';
import { testDatabase } from './database.ts';
import { nextMessage } from './next-message.ts';
import { slowness } from './thread-cpu.ts';
import type { Watched, WatchedOrder, WatchedWord } from './watched-child.ts';

export type WatchedServer = AsyncDisposable & {
  readonly url: string;
  readonly keys: readonly string[];
  readonly poorKey: string;
  /** How long its event loop stood still at most, as on a machine of its own, and by how much its memory grew. */
  watch(work: () => Promise<unknown>): Promise<Watched>;
  /** Has it work for so long without a pause, and answers what the watch has seen of that. */
  stallFor(ms: number): Promise<number>;
};

/** Nothing that one request brings may stall the event loop longer. */
const MOST_STALL_MS = 50;
const ATTEMPTS = 4;

/** Other work on the machine makes every step longer: the quietest of a few attempts counts. */
export async function expectNoStall(
  server: Pick<WatchedServer, 'watch'>,
  attack: () => Promise<unknown>,
): Promise<void> {
  const stallsMs: number[] = [];
  while (stallsMs.length < ATTEMPTS && !stallsMs.some((ms) => ms < MOST_STALL_MS)) {
    stallsMs.push((await server.watch(attack)).stallMs);
  }
  expect(Math.min(...stallsMs), `${stallsMs}`).toBeLessThan(MOST_STALL_MS);
}

const CHILD = joined('test/support/watched-child.ts');

/**
 * A server in a process of its own, whose event loop is watched. Of `upstreamUrl` it buys `acme/chat`, `acme/claude` in the
 * Messages dialect, `acme/responses` in the dialect of Responses, and `acme/realtime` over WebSockets.
 */
export async function startWatchedServer(upstreamUrl: string): Promise<WatchedServer> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-watched-'));
  const catalogue = join(directory, 'catalogue.json');
  writeFileSync(catalogue, JSON.stringify(catalogueOf(upstreamUrl)));
  const database = await testDatabase();
  const child = fork(CHILD, [JSON.stringify(database.target)], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      CATALOG_FILE: catalogue,
      DATABASE_URL: join(directory, 'db'),
      // Floods open many sockets to the local recogniser.
      LOCAL_LISTENERS: '1000',
    },
  });
  const { url, keys, poorKey } = await nextMessage<WatchedWord>(child);
  const ask = (order: WatchedOrder): Promise<Watched> => {
    const told = nextMessage<Watched>(child);
    child.send(order);
    return told;
  };
  return {
    url,
    keys,
    poorKey,
    async watch(work) {
      const slow = slowness();
      const before = await ask('begin');
      await work();
      const { rssBytes, stallMs } = await ask('end');
      return {
        rssBytes: rssBytes - before.rssBytes,
        stallMs: stallMs / Math.max(slow, slowness()),
      };
    },
    async stallFor(ms) {
      await ask('begin');
      return (await ask({ workForMs: ms })).stallMs;
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function catalogueOf(baseUrl: string): object {
  const text = { text_input_token: '1', text_output_token: '2' };
  const sound = { audio_input_token: '1', audio_output_token: '2' };
  const model = (provider: string, modality = 'text', rates: object = text) => ({
    id: `acme/${provider}`,
    modality,
    contextWindow: null,
    sources: [{ rail: 'direct-account', provider, upstreamModel: 'm', rates }],
  });
  return {
    providers: {
      chat: { baseUrl, dialect: 'openai' },
      claude: { baseUrl, dialect: 'anthropic' },
      responses: { baseUrl, dialect: 'openai', speaksResponses: true },
      realtime: { baseUrl: baseUrl.replace('http', 'ws'), dialect: 'openai-realtime' },
    },
    models: [
      model('chat'),
      model('claude'),
      model('responses'),
      model('realtime', 'realtime', { ...text, ...sound }),
    ],
  };
}
