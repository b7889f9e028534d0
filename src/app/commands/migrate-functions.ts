import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definedFunctions, functionsMigration } from '../../platform/postgres/sql-functions.ts';
import { ROOT } from './compile.ts';
import { generateMigration } from './generate-migration.ts';

/**
 * `npm run migrate:functions`: writes the migration that updates the database's SQL functions to their source files in
 * src/ledger/store/functions.
 */
const FUNCTIONS = join(ROOT, 'src/ledger/store/functions');
const MIGRATIONS = join(ROOT, 'migrations');

const sqlIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'utf8');

const before = sqlIn(MIGRATIONS);
const defined = definedFunctions(before.map((name) => read(MIGRATIONS, name)));
const files = definedFunctions(sqlIn(FUNCTIONS).map((name) => read(FUNCTIONS, name)));
const migration = functionsMigration(defined, files);
if (migration === undefined) {
  console.log('The migrations define every function as its file does.');
} else {
  generateMigration(['--custom', '--name', 'functions']);
  const added = sqlIn(MIGRATIONS).find((name) => !before.includes(name));
  if (added === undefined) throw new Error('drizzle-kit has written no migration');
  writeFileSync(join(MIGRATIONS, added), migration);
  console.log(`wrote migrations/${added}`);
}
