import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiled } from './compiled.ts';
import { testDatabase } from './database.ts';
import { nextMessage } from './next-message.ts';
import { slowness } from './thread-cpu.ts';
import type { Watched, WatchedOrder, WatchedWord } from './watched-child.ts';

export type WatchedServer = AsyncDisposable & {
  readonly url: string;
  readonly keys: readonly string[];
  /** How long its event loop stood still at most, as on a machine of its own, and by how much its memory grew. */
  watch(work: () => Promise<unknown>): Promise<Watched>;
  /** Has it work for so long without a pause, and answers what the watch has seen of that. */
  stallFor(ms: number): Promise<number>;
};

const CHILD = compiled('test/support/watched-child.ts');

/** A server in a process of its own, whose event loop is watched; `acme/chat` is bought of `upstreamUrl`. */
export async function startWatchedServer(upstreamUrl: string): Promise<WatchedServer> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-watched-'));
  const catalogue = join(directory, 'catalogue.json');
  const rates = { text_input_token: '1', text_output_token: '2' };
  const source = { rail: 'direct-account', provider: 'acme', upstreamModel: 'm', rates };
  writeFileSync(
    catalogue,
    JSON.stringify({
      providers: { acme: { baseUrl: upstreamUrl, dialect: 'openai' } },
      models: [{ id: 'acme/chat', modality: 'text', contextWindow: null, sources: [source] }],
    }),
  );
  const database = await testDatabase();
  const child = fork(CHILD, [JSON.stringify(database.target)], {
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, CATALOG_FILE: catalogue },
      DATABASE_URL: join(directory, 'db'),
    },
  });
  const { url, keys } = await nextMessage<WatchedWord>(child);
  const ask = (order: WatchedOrder): Promise<Watched> => {
    const told = nextMessage<Watched>(child);
    child.send(order);
    return told;
  };
  return {
    ...{ url, keys },
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
