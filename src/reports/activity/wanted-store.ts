import type { Queryable } from '../../platform/postgres/sql.ts';
import { type ActivityEvent, type ActivitySource, RANK } from './activity-event.ts';
import type { Position } from './page-cursor.ts';

/** Rows that are wanted of a source: of these agents, older than `before`, the newest `limit`. */
export type Wanted = {
  readonly agentIds: readonly number[];
  /** Only rows of this key. Undefined: rows of every key, and rows without a key. */
  readonly keyId: number | undefined;
  readonly sinceMicros: bigint | undefined;
  readonly untilMicros: bigint | undefined;
  readonly before: Position | undefined;
  readonly limit: number;
};

export type Found = {
  /** Events in their order, newest first. */
  readonly events: readonly ActivityEvent[];
  /** Last row that was read, when the search for a key's rows ended at `REPORT_LIMITS.activity.scanned` rows. */
  readonly readTo: Position | undefined;
};

type Fragment = ReturnType<typeof micros>;

export const micros = (sql: Queryable, column: string) =>
  sql`(extract(epoch from ${sql(column)}) * 1000000)::bigint`;

const instant = (sql: Queryable, atMicros: bigint) =>
  sql`(timestamptz 'epoch' + ${String(atMicros)}::bigint * interval '1 microsecond')`;

/** Returns the condition for rows of the window that come after the cursor. */
export function within(
  sql: Queryable,
  { before, sinceMicros, untilMicros }: Wanted,
  {
    at,
    id,
    source,
  }: { readonly at: string; readonly id: Fragment; readonly source: ActivitySource },
) {
  const time = sql(at);
  const since =
    sinceMicros === undefined ? sql`` : sql`and ${time} >= ${instant(sql, sinceMicros)}`;
  const until = untilMicros === undefined ? sql`` : sql`and ${time} < ${instant(sql, untilMicros)}`;
  if (before === undefined) return sql`true ${since} ${until}`;
  const bound = instant(sql, before.atMicros);
  const rank = RANK[source];
  if (rank > before.rank) return sql`${time} < ${bound} ${since} ${until}`;
  if (rank < before.rank) return sql`${time} <= ${bound} ${since} ${until}`;
  return sql`${time} <= ${bound} and (${time} < ${bound} or ${id}) ${since} ${until}`;
}
