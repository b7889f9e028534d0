import { describe, expect, it } from 'vitest';
import { createDatabaseClock } from '../../../../src/platform/postgres/database-clock.ts';
import type { Queryable } from '../../../../src/platform/postgres/sql.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const NOON_MS = Date.UTC(2026, 5, 1, 12);

/** A process whose wall clock may be set, and a database that answers after a while. */
function world() {
  const steady = new ManualClock(5_000);
  const place = { wallMs: NOON_MS, databaseMs: NOON_MS, tookMs: 2 };
  const clock = Object.assign(Object.create(steady) as ManualClock, {
    now: () => place.wallMs,
    monotonicMs: () => steady.monotonicMs(),
  });
  const sql = (async () => {
    const half = place.tookMs / 2;
    steady.advance(half);
    place.databaseMs += half;
    const told = place.databaseMs;
    steady.advance(half);
    place.databaseMs += half;
    return [{ ms: told }];
  }) as unknown as Queryable;
  const pass = (ms: number) => {
    steady.advance(ms);
    place.databaseMs += ms;
    place.wallMs += ms;
  };
  return { place, pass, sql, time: createDatabaseClock(clock) };
}

describe('the time of the database', () => {
  it('the database clock is the database’s time, corrected for the transit time of its answer', async () => {
    const { place, pass, sql, time } = world();
    place.wallMs += 42_000;
    await time.measure(sql);
    expect(time.now()).toBe(place.databaseMs);
    pass(10_000);
    expect(time.now()).toBe(place.databaseMs);
  });

  it('the database clock does not move when this machine’s clock is set', async () => {
    const { place, sql, time } = world();
    await time.measure(sql);
    place.wallMs += 7_200_000;
    expect(time.now()).toBe(place.databaseMs);
    place.wallMs -= 86_400_000;
    expect(time.now()).toBe(place.databaseMs);
  });

  it('the database clock ignores a slow answer until nothing better is known', async () => {
    const { place, sql, time } = world();
    await time.measure(sql);
    place.databaseMs += 5;
    place.tookMs = 40;
    await time.measure(sql);
    expect(time.now()).toBe(place.databaseMs - 5);
    for (let i = 0; i < 10; i++) await time.measure(sql);
    expect(time.now()).toBe(place.databaseMs);
  });
});
