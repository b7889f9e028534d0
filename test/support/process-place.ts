import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';
import { testDatabase } from './database.ts';
import { roomyPlace } from './roomy-place.ts';

export const ADMIN_KEY = 'admin-key-of-the-process-tests';

/** What the server processes of one place have in common, beside their database. */
export const SECRETS: Readonly<Record<string, string>> = {
  ADMIN_API_KEY: ADMIN_KEY,
  JWT_SECRET: 'j'.repeat(32),
  API_KEY_HMAC_SECRET: 'h'.repeat(32),
  MANAGED_WALLET_APP_ID: 'local',
  MANAGED_WALLET_APP_SECRET: 's'.repeat(32),
  MANAGED_WALLET_AUTHORIZATION_PRIVATE_KEY: 'k'.repeat(32),
  FACILITATOR_PRIVATE_KEY: `0x${'1'.repeat(64)}`,
};

/** Where a server process of a test lives: its environment, its files, its database. */
export type ProcessPlace = AsyncDisposable & {
  readonly environment: Readonly<Record<string, string>>;
  readonly target: DatabaseTarget;
  readonly directory: string;
};

/** The shared PostgreSQL of this run, or a directory with an embedded one; the secrets are the same for all. */
export async function processPlace(): Promise<ProcessPlace> {
  const directory = mkdtempSync(join(roomyPlace(), 'svc-place-'));
  const database = await somewhere(directory);
  return {
    directory,
    target: database.target,
    environment: { DATABASE_URL: database.url, ...SECRETS },
    async [Symbol.asyncDispose]() {
      await database.dispose();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function somewhere(directory: string) {
  if (inject('testServer').kind === 'url') {
    const database = await testDatabase(1);
    const { target } = database;
    if (target.kind !== 'url') throw new Error('a server by URL has databases by URL');
    return { url: target.url, target, dispose: () => database[Symbol.asyncDispose]() };
  }
  const path = join(directory, 'db');
  const target: DatabaseTarget = {
    kind: 'socket',
    directory: join(path, 'postgres-18'),
    user: 'app',
    database: 'postgres',
  };
  return { url: path, target, dispose: async () => {} };
}

/** A catalogue of one text model at one provider. Answers the file's path. */
export function writeCatalogue(directory: string, model: string, baseUrl: string): string {
  const file = join(directory, 'catalog.json');
  const source = {
    rail: 'direct-account',
    provider: 'acme',
    upstreamModel: 'upstream-1',
    rates: { text_input_token: '2.5', text_output_token: '10' },
  };
  const entry = { id: model, modality: 'text', contextWindow: 128_000, sources: [source] };
  const providers = { acme: { baseUrl, dialect: 'openai' } };
  writeFileSync(file, JSON.stringify({ providers, models: [entry] }));
  return file;
}
