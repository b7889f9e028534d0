import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { backupDatabase } from '../../src/platform/postgres/backup/backup-database.ts';
import { restoreDatabase } from '../../src/platform/postgres/backup/restore-database.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { compiled } from '../support/compiled.ts';
import { testDatabase } from '../support/database.ts';
import { scratchFolder } from '../support/embedded.ts';

/** Every type that money, time and payloads are kept in, beside the tables of the schema itself. */
const ODD_TABLES = `
  create table parents (
    id bigint generated always as identity primary key,
    boss_id bigint references parents (id),
    amount_raw bigint not null,
    payload jsonb, at timestamptz(6), tags text[], bytes bytea, note text, share double precision,
    amount_half bigint generated always as (amount_raw / 2) stored
  );
  create table children (id uuid primary key, parent_id bigint not null references parents (id));
  alter table parents add column favourite uuid references children (id);
  create table "Odd ""Name" ("a column" int, "select" text);
  create function forbid() returns trigger language plpgsql as $$
    begin raise exception 'append only'; end $$;
  create trigger no_inserts before insert on "Odd ""Name" for each row execute function forbid()`;

const ODD_ROWS = `
  alter table "Odd ""Name" disable trigger user;
  insert into "Odd ""Name" values (1, E'tab\\t newline\\n return\\r backslash \\\\ \\\\.'), (2, null), (3, '');
  alter table "Odd ""Name" enable trigger user;
  insert into parents (boss_id, amount_raw, payload, at, tags, bytes, note, share) values
    (null, 9223372036854775807, '{"a": [1.10, null, "\\u2713"], "deep": {"n": 12345678901234567890.123}}',
     '2026-01-02 03:04:05.678901+07', array['x', null, 'comma,"quote"', E'new\\nline', ''], '\\x00ff0a5c', E'\\\\.', 0.1),
    (1, -9223372036854775808, 'null', 'infinity', '{}', '', '', 'NaN'),
    (2, 0, '"text"', '1969-12-31 23:59:59.999999Z', null, null, 'ümläut ✓ 🎧', 1e-300);
  insert into children values ('00000000-0000-0000-0000-00000000000a', 2);
  update parents set favourite = '00000000-0000-0000-0000-00000000000a' where id = 1;
  insert into parents (amount_raw, note) select g, repeat('x', 300) from generate_series(1, 2000) g`;

async function backupText(sql: Sql): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  await backupDatabase(sql, { clock: systemClock, onTable: () => {} }, async (text) => {
    for await (const part of text) parts.push(part);
  });
  return Buffer.concat(parts);
}

const restore = (sql: Sql, text: Buffer) => {
  const counts = new Map<string, number>();
  const chunks = Array.from({ length: Math.ceil(text.length / 10_007) }, (_, i) =>
    text.subarray(i * 10_007, (i + 1) * 10_007),
  );
  const done = restoreDatabase(sql, Readable.from(chunks), (table, rows) =>
    counts.set(table, rows),
  );
  return done.then(() => counts);
};

/** All rows of a table as the server itself prints them. */
const printed = async (sql: Sql, table: string) =>
  (await sql.unsafe(`select t::text as row from ${table} t order by 1`)).map((row) => row.row);

async function oddDatabase(rows: 'with rows' | 'empty') {
  const database = await testDatabase(4);
  await database.sql.unsafe(ODD_TABLES);
  if (rows === 'with rows') await database.sql.unsafe(ODD_ROWS);
  return database;
}

describe('backup and restore', () => {
  it('a backup and its restore keep every row exactly, and new rows get ids after the old ones', async () => {
    await using source = await oddDatabase('with rows');
    await using target = await oddDatabase('empty');
    const counts = await restore(target.sql, await backupText(source.sql));
    expect(counts.get('parents')).toBe(2_003);
    for (const table of ['parents', 'children', '"Odd ""Name"']) {
      expect(await printed(target.sql, table)).toEqual(await printed(source.sql, table));
    }
    const [next] = await target.sql`insert into parents (amount_raw) values (1) returning id`;
    expect(next?.id).toBe(2_004n);
    await expect(
      target.sql`insert into children values (gen_random_uuid(), 999999)`,
    ).rejects.toThrow('foreign key');
    await expect(target.sql`insert into "Odd ""Name" values (9, '')`).rejects.toThrow(
      'append only',
    );
  });

  it('a backup holds the state of one instant while others write', async () => {
    await using source = await oddDatabase('with rows');
    let text = '';
    await backupDatabase(source.sql, { clock: systemClock, onTable: () => {} }, async (parts) => {
      for await (const part of parts) {
        if (text === '')
          await source.sql`insert into parents (amount_raw, note) values (7, 'meanwhile')`;
        text += Buffer.from(part).toString();
      }
    });
    expect(text.includes('meanwhile')).toBe(false);
    await using target = await oddDatabase('empty');
    expect((await restore(target.sql, Buffer.from(text))).get('parents')).toBe(2_003);
  });

  it('a restore changes nothing when the backup is cut off, altered or of another schema', async () => {
    await using source = await oddDatabase('with rows');
    await using target = await oddDatabase('empty');
    const whole = await backupText(source.sql);
    const altered = Buffer.from(whole.toString('latin1').replace('xxx', 'xyx'), 'latin1');
    const head = whole.indexOf(10) + 1;
    const other = Buffer.concat([
      Buffer.from(
        '{"format":"svc-backup","version":1,"createdAt":"then","migrations":["other"]}\n',
      ),
      whole.subarray(head),
    ]);
    for (const [bytes, sentence] of [
      [whole.subarray(0, whole.length - 3), 'cut off'],
      [whole.subarray(0, whole.length / 2), 'cut off'],
      [altered, 'checksum'],
      [other, 'another schema'],
      [Buffer.from('{}\n'), 'not a backup'],
    ] as const) {
      await expect(restore(target.sql, bytes)).rejects.toThrow(sentence);
    }
    expect(await printed(target.sql, 'parents')).toEqual([]);
    expect((await restore(target.sql, whole)).get('children')).toBe(1);
  });

  it('a restore is refused for a database that is not empty', async () => {
    await using source = await oddDatabase('with rows');
    const text = await backupText(source.sql);
    const before = await printed(source.sql, 'parents');
    await expect(restore(source.sql, text)).rejects.toThrow('is not empty (table');
    expect(await printed(source.sql, 'parents')).toEqual(before);
  });
});

/** Runs one of the storage commands as an operator does. */
function command(name: string, database: string, ...args: string[]) {
  const script = compiled(`src/app/commands/${name}.ts`);
  const child = spawn(process.execPath, [script, ...args], {
    env: { PATH: process.env.PATH, DATABASE_URL: database },
  });
  let said = '';
  const hear = (chunk: Buffer) => {
    said += chunk.toString();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  return new Promise<{ code: number | null; said: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, said })),
  );
}

describe('the storage commands', () => {
  it('the commands migrate, backup and restore work on a directory and say what they did', async () => {
    using folder = scratchFolder();
    const [from, to] = [`${folder.path}/from`, `${folder.path}/to`];
    const file = `${folder.path}/all.gz`;
    expect(await command('migrate', from)).toMatchObject({ code: 0 });
    const backup = await command('backup', from, file);
    expect(backup).toMatchObject({ code: 0 });
    expect(backup.said).toContain('agent_funds: 0 rows');
    expect(statSync(file).mode & 0o077).toBe(0);
    const restored = await command('restore', to, file);
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.said).toContain('holds 0 rows');
  });

  it('the commands backup and restore exit with 1 and one sentence, or with 2 for wrong usage', async () => {
    using folder = scratchFolder();
    const file = `${folder.path}/all.gz`;
    writeFileSync(file, 'no gzip');
    const database = `${folder.path}/db`;
    expect(await command('backup', database)).toMatchObject({ code: 2 });
    expect(await command('restore', database, file, 'more')).toMatchObject({ code: 2 });
    const exists = await command('backup', database, file);
    expect(exists).toEqual({ code: 1, said: `${file} exists already: name another file.\n` });
    const missing = await command('restore', database, `${folder.path}/none.gz`);
    expect(missing).toMatchObject({ code: 1, said: `${folder.path}/none.gz cannot be read.\n` });
    const damaged = await command('restore', database, file);
    expect(damaged.code).toBe(1);
    expect(damaged.said).toContain('is no whole gzip file');
    writeFileSync(file, gzipSync('{}\n').subarray(0, 20));
    const cut = await command('restore', database, file);
    expect(cut.code).toBe(1);
    expect(cut.said.trim().split('\n')).toHaveLength(1);
    expect(() => gunzipSync(readFileSync(file))).toThrow();
  });
});
