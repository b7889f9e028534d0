import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { startEmbedded } from '../../src/platform/postgres/embedded/embedded-server.ts';
import { migrateDatabase } from '../../src/platform/postgres/migrate.ts';
import { type DatabaseTarget, openSql } from '../../src/platform/postgres/sql.ts';
import { roomyPlace } from './roomy-place.ts';
import { targetOn } from './target-on.ts';

declare module 'vitest' {
  interface ProvidedContext {
    testServer: DatabaseTarget;
    testTemplate: string;
    /** Whether commits and checkpoints of the server wait for its disk. */
    testServerSyncs: boolean;
  }
}

/** Tests ask for more connections than a server does, and a power cut in a test run loses nothing. */
const TEST_SETTINGS = { max_connections: '200', fsync: 'off', full_page_writes: 'off' };

type Shared = AsyncDisposable & {
  readonly target: DatabaseTarget;
  readonly template: string;
  readonly syncs: boolean;
};

/** Each project loads this module anew, so that only the process can know that another has a server. */
const run = globalThis as { shared?: Promise<Shared>; sharing?: number };

/** One server for the whole run, and one migrated template on it that every test copies. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.shared ??= startShared();
  run.sharing = (run.sharing ?? 0) + 1;
  const shared = await run.shared;
  project.provide('testServer', shared.target);
  project.provide('testTemplate', shared.template);
  project.provide('testServerSyncs', shared.syncs);
  return async () => {
    run.sharing = (run.sharing ?? 0) - 1;
    if (run.sharing > 0) return;
    delete run.shared;
    await shared[Symbol.asyncDispose]();
  };
}

async function startShared(): Promise<Shared> {
  const url = process.env.TEST_DATABASE_URL;
  const server = url === undefined ? await startServer() : undefined;
  const target: DatabaseTarget = server?.target ?? { kind: 'url', url: url ?? '' };
  const template = `test_${process.pid}_template`;
  const admin = openSql(target, 1);
  await admin.unsafe(`drop database if exists "${template}"`);
  await admin.unsafe(`create database "${template}"`);
  await migrateDatabase(targetOn(target, template));
  const [setting] = await admin<{ fsync: string }[]>`select current_setting('fsync') as fsync`;
  const syncs = setting?.fsync !== 'off';
  return {
    target,
    template,
    syncs,
    async [Symbol.asyncDispose]() {
      await admin.unsafe(`drop database if exists "${template}" with (force)`);
      await admin.end({ timeout: 1 });
      await server?.stop();
    },
  };
}

async function startServer() {
  const directory = mkdtempSync(join(roomyPlace(), 'svc-test-'));
  const parts = { clock: systemClock, random: systemRandom, log: silentLog };
  const server = await startEmbedded({ directory, ...parts, settings: TEST_SETTINGS });
  const stop = async () => {
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  };
  return { target: server.target, stop };
}
