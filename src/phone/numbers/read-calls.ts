import type { Queryable } from '../../platform/postgres/sql.ts';
import { findNumberCalls } from './usage-store.ts';

/**
 * Returns the latest calls of a number as routes show them, latest first. A call without an answer has a length of 0 seconds.
 */
export async function readCalls(sql: Queryable, numberId: number) {
  const calls = await findNumberCalls(sql, numberId);
  return calls.map((call) => ({
    ...call,
    durationSeconds: call.durationSeconds ?? 0,
    startedAt: call.startedAt?.toISOString() ?? null,
    endedAt: call.endedAt?.toISOString() ?? null,
  }));
}
