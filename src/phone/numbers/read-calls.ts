import type { Queryable } from '../../platform/postgres/sql.ts';
import { findNumberCalls } from './usage-store.ts';

/** The latest calls of a number as routes show them, latest first. One that was not answered lasted 0 seconds. */
export async function readCalls(sql: Queryable, numberId: number) {
  const calls = await findNumberCalls(sql, numberId);
  return calls.map((call) => ({
    ...call,
    durationSeconds: call.durationSeconds ?? 0,
    startedAt: call.startedAt?.toISOString() ?? null,
    endedAt: call.endedAt?.toISOString() ?? null,
  }));
}
