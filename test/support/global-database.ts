import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { startEmbedded } from '../../src/platform/postgres/embedded/embedded-server.ts';
import { migrateDatabase } from '../../src/platform/postgres/migrate.ts';
import { type DatabaseTarget, openSql } from '../../src/platform/postgres/sql.ts';
import { targetOn } from './database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    testServer: DatabaseTarget;
    testTemplate: string;
  }
}

/** Tests ask for more connections than a server does, and a power cut in a test run loses nothing. */
const TEST_SETTINGS = { max_connections: '200', fsync: 'off' };

/** One server for the whole project, and one migrated template on it that every test copies. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.TEST_DATABASE_URL;
  const server = url === undefined ? await startServer() : undefined;
  const target: DatabaseTarget = server?.target ?? { kind: 'url', url: url ?? '' };
  const template = `test_${process.pid}_${project.name}_template`;
  const admin = openSql(target, 1);
  await admin.unsafe(`drop database if exists "${template}"`);
  await admin.unsafe(`create database "${template}"`);
  await migrateDatabase(targetOn(target, template));
  project.provide('testServer', target);
  project.provide('testTemplate', template);
  return async () => {
    await admin.unsafe(`drop database if exists "${template}" with (force)`);
    await admin.end({ timeout: 1 });
    await server?.stop();
  };
}

async function startServer() {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const parts = { clock: systemClock, random: systemRandom, log: silentLog };
  const server = await startEmbedded({ directory, ...parts, settings: TEST_SETTINGS });
  const stop = async () => {
    await server[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  };
  return { target: server.target, stop };
}
