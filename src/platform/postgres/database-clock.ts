import type { Clock } from '../../kernel/clock.ts';
import { POSTGRES_LIMITS } from './limits.ts';
import type { Queryable } from './sql.ts';

/** The database's clock, which all processes share. */
export type DatabaseClock = {
  /** Returns the database's time in Unix milliseconds, as exact as the last measurement. */
  now(): number;
  /** Measures the difference between the database's clock and this process's clock again. */
  measure(sql: Queryable): Promise<void>;
};

/** Creates the clock. It adds the measured difference to this process's monotonic clock. */
export function createDatabaseClock(clock: Clock): DatabaseClock {
  let aheadMs = 0;
  let doubtMs = Number.POSITIVE_INFINITY;
  return {
    // Monotonic: a wall clock that is set would move every window with it.
    now: () => clock.monotonicMs() + aheadMs,
    async measure(sql) {
      const sentMs = clock.monotonicMs();
      const [row] = await sql<{ ms: number }[]>`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
      const tookMs = clock.monotonicMs() - sentMs;
      // A measurement that took long is less exact than the last one, unless the last measurement is old.
      doubtMs += POSTGRES_LIMITS.clockDoubtMs;
      if (row === undefined || tookMs > doubtMs) return;
      doubtMs = tookMs;
      aheadMs = row.ms + tookMs / 2 - clock.monotonicMs();
    },
  };
}
