import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const FOLDER = resolve(import.meta.dirname, '../../../src/ledger/store/functions');

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase(1);
});
afterAll(() => database[Symbol.asyncDispose]());

const definitions = async (): Promise<Record<string, string>> => {
  const rows = await database.sql<{ name: string; text: string }[]>`
    select p.proname as name, pg_get_functiondef(p.oid) as text
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'public'
    order by p.proname`;
  return Object.fromEntries(rows.map(({ name, text }) => [name, text]));
};

it('the functions of a migrated database are those of the SQL files, and no others', async () => {
  const files = readdirSync(FOLDER);
  const migrated = await definitions();
  expect(Object.keys(migrated).map((name) => `${name}.sql`)).toEqual(files.sort());
  for (const file of files) await database.sql.unsafe(readFileSync(join(FOLDER, file), 'utf8'));
  expect(await definitions()).toEqual(migrated);
});
