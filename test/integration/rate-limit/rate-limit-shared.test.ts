import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { openSql, type Sql } from '../../../src/platform/postgres/sql.ts';
import { RATE_LIMITS } from '../../../src/rate-limit/limits.ts';
import { createRateWindows } from '../../../src/rate-limit/rate-store.ts';
import { createSharedRateLimiter } from '../../../src/rate-limit/shared-rate-limit.ts';
import { cutProxy } from '../../support/cut-proxy.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';

const REQUESTS = 10_000;
const CALLERS = 8;
const TRIED = [60, 100, 300, 3_000];

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase(4);
});
afterAll(() => db[Symbol.asyncDispose]());

/** A process's limiter on the database, and how often it asked it. */
function limiterOn(sql: Sql) {
  const windows = createRateWindows(sql, RATE_LIMITS.window.lifeMs);
  const counted = { trips: 0 };
  const claim: typeof windows.claim = (claims) => {
    counted.trips++;
    return windows.claim(claims);
  };
  const limiter = createSharedRateLimiter({
    windows: { claim },
    clock: systemClock,
    log: silentLog,
  });
  return { take: limiter.take, counted };
}

type Limiter = ReturnType<typeof limiterOn>;

/** Asks the limiters in turn, each caller as soon as it is answered. Answers how many were let through. */
async function ask(limiters: readonly Limiter[], bucket: string, limit: number, requests: number) {
  let allowed = 0;
  const caller = async (name: number) => {
    for (let n = 0; n < requests / CALLERS; n++) {
      const allowance = await limiters[(name + n) % limiters.length]?.take(bucket, limit);
      if (allowance?.allowed) allowed++;
      expect(allowance?.remaining).toBeGreaterThanOrEqual(0);
      // Requests come from outside: between two of them the process hears of what it waits for.
      if (n % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, name) => caller(name)));
  return allowed;
}

describe('two limiters on one database', () => {
  for (const limit of TRIED) {
    it(`two rate limiters on one database allow ${limit} of ${REQUESTS} requests a minute, within 5 %, with few queries`, async () => {
      const limiters = [limiterOn(db.sql), limiterOn(db.sql)];
      const startedMs = performance.now();
      const allowed = await ask(limiters, `both ${limit}`, limit, REQUESTS);
      expect(performance.now() - startedMs, 'all within one window').toBeLessThan(50_000);
      expect(allowed).toBeGreaterThanOrEqual(limit * 0.95);
      expect(allowed).toBeLessThanOrEqual(limit * 1.05);
      const trips = limiters.reduce((sum, { counted }) => sum + counted.trips, 0);
      expect(trips).toBeLessThanOrEqual(REQUESTS / 10);
    });

    it(`two rate limiters of ${limit} a minute err by less than 5 % when one of them gets a single request`, async () => {
      const [once, always] = [limiterOn(db.sql), limiterOn(db.sql)];
      expect((await once.take(`once ${limit}`, limit)).allowed).toBe(true);
      const allowed = 1 + (await ask([always], `once ${limit}`, limit, REQUESTS / 2));
      expect(allowed).toBeGreaterThanOrEqual(limit * 0.95);
      expect(allowed).toBeLessThanOrEqual(limit * 1.05);
    });
  }

  it('two rate limiters on one database begin a window together by the clock of the database', async () => {
    const limiters = [limiterOn(db.sql), limiterOn(db.sql)];
    await ask(limiters, 'next', 100, 400);
    await db.sql`update rate_windows set started_at = started_at - interval '1 minute'
      where bucket = 'next'`;
    // A third has no memory of the window that is over for the others by their own clocks only.
    const third = limiterOn(db.sql);
    const answer = await third.take('next', 100);
    expect(answer).toMatchObject({ allowed: true, remaining: 99 });
    expect(answer.resetAtSec - Date.now() / 1_000).toBeGreaterThan(58);
  });
});

describe('a limiter whose database goes away', () => {
  it('a rate limiter without its database decides at once from its own count, and shares again when the database is back', async () => {
    await using proxy = await cutProxy(db.target);
    const sql = openSql(proxy.target, 2);
    try {
      const cut = limiterOn(sql);
      const other = limiterOn(db.sql);
      expect((await cut.take('away', 300)).allowed).toBe(true);
      proxy.away(true);
      let allowed = 1;
      let slowestMs = 0;
      for (let n = 0; n < 1_000; n++) {
        const askedMs = performance.now();
        if ((await cut.take('away', 300)).allowed) allowed++;
        slowestMs = Math.max(slowestMs, performance.now() - askedMs);
        if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      expect(allowed).toBe(300);
      expect(slowestMs).toBeLessThan(RATE_LIMITS.window.claimMs + 500);

      proxy.away(false);
      let round = 0;
      const knowsOfTheOther = async () => {
        const bucket = `back ${++round}`;
        await other.take(bucket, 1);
        return !(await cut.take(bucket, 1)).allowed;
      };
      await expect.poll(knowsOfTheOther).toBe(true);
      expect(await ask([cut, other], 'after', 100, 1_000)).toBe(100);
    } finally {
      await sql.end({ timeout: 1 });
    }
  });
});
