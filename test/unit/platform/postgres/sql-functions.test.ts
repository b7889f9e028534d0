import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  definedFunctions,
  functionsMigration,
} from '../../../../src/platform/postgres/sql-functions.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');

const textsIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'));

const one = 'CREATE OR REPLACE FUNCTION f(a integer) RETURNS void AS $$ SELECT 1 $$;';
const other = 'CREATE OR REPLACE FUNCTION f(a integer) RETURNS void AS $$ SELECT 2 $$;';
const wider = 'CREATE OR REPLACE FUNCTION f(a bigint) RETURNS void AS $$ SELECT 2 $$;';

describe('an SQL function', () => {
  it('each SQL function’s file has the text of the newest migration that defines it', () => {
    const defined = definedFunctions(textsIn('migrations'));
    const files = definedFunctions(textsIn('src/ledger/store/functions'));
    expect(Object.fromEntries(files)).toEqual(Object.fromEntries(defined));
    expect(files.size).toBeGreaterThan(0);
  });

  it('an SQL function is read from its newest definition, without the comments before it', () => {
    const first = `-- Says one.\n${one.replace('OR REPLACE ', '')}\n--> statement-breakpoint\nSELECT 1;`;
    expect(definedFunctions([first])).toEqual(new Map([['f', one]]));
    expect(definedFunctions([first, other])).toEqual(new Map([['f', other]]));
  });

  it('a migration replaces an SQL function whose body changed and drops it first where its arguments did', () => {
    const defined = new Map([['f', one]]);
    expect(functionsMigration(defined, new Map([['f', one]]))).toBeUndefined();
    expect(functionsMigration(defined, new Map([['f', other]]))).toBe(`${other}\n`);
    expect(functionsMigration(defined, new Map([['f', wider]]))).toBe(
      `DROP FUNCTION f;\n--> statement-breakpoint\n${wider}\n`,
    );
    expect(functionsMigration(new Map(), new Map([['f', one]]))).toBe(`${one}\n`);
  });
});
