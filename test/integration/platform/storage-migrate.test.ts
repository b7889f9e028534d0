import { describe, expect, it } from 'vitest';
import { DatabaseUnreachable } from '../../../src/platform/postgres/await-server.ts';
import { migrateDatabase } from '../../../src/platform/postgres/migrate.ts';
import { openSql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../../support/database.ts';
import { targetOn } from '../../support/target-on.ts';

const lockCount = `select count(*)::int as count from pg_locks
  where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;

describe('migrations', () => {
  it('migrations give every test a private database with the whole schema', async () => {
    await using one = await testDatabase();
    await using two = await testDatabase();
    await one.sql`create table only_here (id int)`;
    const [seen] = await two.sql`select to_regclass('only_here') as here,
      to_regclass('agent_funds') as funds`;
    expect(seen).toEqual({ here: null, funds: 'agent_funds' });
  });

  it('migrations run once when several processes start on an empty database at once', async () => {
    await using scratch = await testDatabase(1);
    const name = `${(await scratch.sql`select current_database() as name`)[0]?.name}_empty`;
    await scratch.sql.unsafe(`create database "${name}" template template0`);
    const target = targetOn(scratch.target, name);
    const sql = openSql(target, 1);
    try {
      await Promise.all([1, 2, 3, 4].map(() => migrateDatabase(target)));
      const twice = await sql`select hash from drizzle.__drizzle_migrations
        group by hash having count(*) > 1`;
      expect(twice).toHaveLength(0);
      expect((await sql`select to_regclass('agent_funds') as funds`)[0]?.funds).toBe('agent_funds');
      expect((await sql.unsafe(lockCount))[0]?.count).toBe(0);
    } finally {
      await sql.end({ timeout: 1 });
      await scratch.sql.unsafe(`drop database if exists "${name}" with (force)`);
    }
  });

  it('migrations release their lock when they fail', async () => {
    await using scratch = await testDatabase(1);
    await scratch.sql`drop schema drizzle cascade`;
    // Everything is there already, so that the first migration cannot be applied again.
    await expect(migrateDatabase(scratch.target)).rejects.toThrow();
    await expect.poll(async () => (await scratch.sql.unsafe(lockCount))[0]?.count).toBe(0);
  });

  it('migrations that time out name in one sentence the session that blocks them', async () => {
    await using scratch = await testDatabase(1);
    const holder = openSql(scratch.target, 1);
    try {
      const [own] = await holder`select pg_backend_pid() as pid, pg_advisory_lock(4021402)`;
      const error = await migrateDatabase(scratch.target, 100).catch((caught: unknown) => caught);
      if (!(error instanceof DatabaseUnreachable)) throw error;
      expect(error.message).toMatch(/^Cannot migrate .*advisory lock 4021402 for 0\.1 s\. /);
      const query = /This finds it: (select .*)$/.exec(error.message)?.[1] ?? '';
      expect(await scratch.sql.unsafe(query)).toMatchObject([{ pid: own?.pid }]);
    } finally {
      await holder.end({ timeout: 1 });
    }
    await migrateDatabase(scratch.target, 5_000);
  });
});
