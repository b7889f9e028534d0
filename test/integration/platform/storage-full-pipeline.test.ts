import { expect, it, onTestFinished } from 'vitest';
import { openSql } from '../../../src/platform/postgres/sql.ts';
import { testDatabase } from '../../support/database.ts';

/** As many statements as the driver sends on a connection before it waits for answers. */
const PIPELINE = 100;

it('a SQL transaction that begins on a full pipeline has its connection for itself', async () => {
  await using db = await testDatabase();
  for (const before of [PIPELINE - 1, PIPELINE, PIPELINE + 1]) {
    const sql = openSql(db.target, 1);
    onTestFinished(() => sql.end({ timeout: 1 }));
    const [{ pid } = { pid: 0 }] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const others = Array.from({ length: before }, () => sql`select 1`.execute());
    const mine = sql.begin(async (tx) => {
      const [first] = await tx`select pg_current_xact_id()::text as id`;
      expect(await tx`select pg_current_xact_id()::text as id`).toEqual([first]);
    });
    await Promise.all(others);
    await mine;
    const left = await db.sql`select state from pg_stat_activity where pid = ${pid}`;
    expect(left, `${before} statements before`).toEqual([{ state: 'idle' }]);
  }
});
