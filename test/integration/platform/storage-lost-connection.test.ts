import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POSTGRES_LIMITS } from '../../../src/platform/postgres/limits.ts';
import { openSql, type Sql } from '../../../src/platform/postgres/sql.ts';
import { isConnectionError } from '../../../src/platform/postgres/transient.ts';
import { type BreakableDatabase, breakable } from '../../support/breakable-database.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

/** Far below the ten seconds after which the driver gives a connection up. */
const SOON_MS = 3_000;
const POOL = 3;

let database: TestDatabase;
let line: BreakableDatabase;
let sql: Sql;
const crashes: unknown[] = [];
const noteCrash = (error: unknown) => crashes.push(error);
beforeAll(async () => {
  process.on('uncaughtExceptionMonitor', noteCrash);
  database = await testDatabase(1);
  line = await breakable(database.target);
  sql = openSql(line.target, POOL);
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await line[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  process.off('uncaughtExceptionMonitor', noteCrash);
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Every connection of the pool is used at the same time, so that none hides. */
const useAll = () => Promise.all(Array.from({ length: POOL }, () => sql`select pg_sleep(0.05)`));

describe('a connection that is lost', () => {
  for (const how of ['destroy', 'end', 'resetAndDestroy'] as const) {
    it(`a database connection lost by ${how} fails its own SQL transaction alone, and the pool works at once`, async () => {
      for (let round = 0; round <= POOL; round++) {
        const lost = sql.begin(async (tx) => {
          await tx`select pg_sleep(5)`;
        });
        const failed = expect(lost).rejects.toSatisfy(isConnectionError);
        await pause(100);
        line.breakAll(how);
        await failed;
        await pause(50);
        const startMs = performance.now();
        await useAll();
        expect(performance.now() - startMs).toBeLessThan(SOON_MS);
      }
      expect(crashes).toEqual([]);
    });
  }

  it('database connections that are lost while statements are sent leave no stuck connection in the pool', async () => {
    for (let round = 0; round < 20; round++) {
      const asked = Array.from({ length: 12 }, () => sql`select 1`.catch(() => 'lost'));
      line.breakAll('destroy');
      await Promise.race([Promise.all(asked), pause(SOON_MS).then(() => expect.fail('it hangs'))]);
    }
    await pause(50);
    const startMs = performance.now();
    await useAll();
    expect(performance.now() - startMs).toBeLessThan(SOON_MS);
    expect(crashes).toEqual([]);
  });

  it('a database connection that is lost by a reset leaves nothing that blocks the next statements', async () => {
    const one = openSql(line.target, 1);
    for (let round = 0; round < 5; round++) {
      let hasBegun = () => {};
      const begun = new Promise<void>((resolve) => {
        hasBegun = resolve;
      });
      const lost = one.begin(async (tx) => {
        await tx`select 1`;
        hasBegun();
        await tx`select pg_sleep(30)`;
      });
      const failed = expect(lost).rejects.toSatisfy(isConnectionError);
      await begun;
      await pause(50);
      line.breakAll('resetAndDestroy');
      await failed;
      for (const n of [1, 2, 3]) {
        const late = pause(SOON_MS).then(() => 'it hangs');
        expect(await Promise.race([one`select ${n}::int as n`, late])).toEqual([{ n }]);
      }
    }
    await one.end({ timeout: 1 });
    expect(crashes).toEqual([]);
  });

  it('a waiting reservation of a database connection gets the next connection when the current one is lost', async () => {
    const one = openSql(line.target, 1);
    await one`select 1`;
    const busy = one`select pg_sleep(30)`.catch(() => 'lost');
    await pause(50);
    const waiting = one.reserve();
    line.breakAll('destroy');
    expect(await busy).toBe('lost');
    const late = pause(SOON_MS).then(() => undefined);
    const own = await Promise.race([waiting, late]);
    if (own === undefined) return expect.fail('it hangs');
    expect(await own`select 1 as n`).toEqual([{ n: 1 }]);
    own.release();
    expect(await one`select 2 as n`).toEqual([{ n: 2 }]);
    await one.end({ timeout: 1 });
    expect(crashes).toEqual([]);
  });

  it('a database connection that is lost while reserved is not handed out again after its release', async () => {
    const one = openSql(line.target, 1);
    for (const how of ['destroy', 'end', 'resetAndDestroy'] as const) {
      const own = await one.reserve();
      const lost = expect(own`select pg_sleep(30)`).rejects.toSatisfy(isConnectionError);
      await pause(50);
      line.breakAll(how);
      await lost;
      await pause(20);
      await expect(own`select 1`).rejects.toSatisfy(isConnectionError);
      own.release();
      for (const n of [1, 2, 3]) {
        const late = pause(SOON_MS).then(() => 'it hangs');
        expect(await Promise.race([one`select ${n}::int as n`, late])).toEqual([{ n }]);
      }
    }
    await one.end({ timeout: 1 });
    expect(crashes).toEqual([]);
  });

  it('a lost database connection drops the later statements of its SQL transaction, and mixes up no other results', async () => {
    await sql`create table late (id int)`;
    const one = openSql(line.target, 1);
    for (let round = 0; round < 30; round++) {
      const lost = one.begin(async (tx) => {
        await tx`select 1`;
        line.breakAll('end');
        // Before, while and after the pool connects again for those who wait.
        await pause(2 * round);
        await tx`insert into late values (1)`;
      });
      const failed = expect(lost).rejects.toSatisfy(isConnectionError);
      const asked = [41, 42, 43].map((n) => one`select ${n}::int as n`);
      expect(await Promise.all(asked)).toEqual([[{ n: 41 }], [{ n: 42 }], [{ n: 43 }]]);
      await failed;
      await pause(2 * round);
    }
    await one.end({ timeout: 1 });
    expect(await sql`select id from late`).toEqual([]);
    expect(crashes).toEqual([]);
  });

  it('a SQL transaction that is idle for too long loses its connection, and its rows are unlocked', async () => {
    const [limit] = await sql`
      select setting::int as ms from pg_settings where name = 'idle_in_transaction_session_timeout'`;
    expect(limit?.ms).toBe(POSTGRES_LIMITS.idleInTransactionMs);

    await sql`create table kept (id int)`;
    await sql`insert into kept values (1)`;
    const frozen = sql.begin(async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 100`;
      await tx`select id from kept for update`;
      await pause(500);
      await tx`update kept set id = 2`;
    });
    const failed = expect(frozen).rejects.toSatisfy(isConnectionError);
    await pause(300);
    expect(await sql`select id from kept for update nowait`).toEqual([{ id: 1 }]);
    await failed;
    // Its next statement comes late, to a connection that is gone.
    await pause(400);
    await useAll();
    expect(await sql`select id from kept`).toEqual([{ id: 1 }]);
    expect(crashes).toEqual([]);
  });
});
