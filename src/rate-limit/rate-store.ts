import type { Sql } from '../platform/postgres/sql.ts';

/** Number of tokens that a process claims from one bucket. */
export type TokenClaim = { readonly bucket: string; readonly tokens: number };

/** Window of a bucket, shared by all processes, after a claim. */
export type SharedWindow = {
  /** Identifies one window of the bucket. */
  readonly windowId: string;
  /** Tokens that all processes have claimed, including this claim. Exceeds the limit after claims beyond it. */
  readonly taken: number;
  readonly leftMs: number;
};

/** Store of the windows that all processes share. */
export interface RateWindows {
  /** Claims tokens of distinct buckets. A bucket whose window has ended gets a new window. */
  claim(claims: readonly TokenClaim[]): Promise<ReadonlyMap<string, SharedWindow>>;
}

type Row = { bucket: string; window_id: string; taken: bigint; left_ms: number };

/**
 * Claims tokens of all buckets in one statement, in the order of the buckets, so that two processes never wait for each other.
 */
export const createRateWindows = (sql: Sql, windowMs: number): RateWindows => ({
  async claim(claims) {
    const buckets = claims.map(({ bucket }) => bucket);
    const tokens = claims.map((claim) => claim.tokens);
    const rows = await sql<Row[]>`
      insert into rate_windows as w (bucket, started_at, taken)
      select c.bucket, clock_timestamp(), c.tokens
      from unnest(${buckets}::text[], ${tokens}::bigint[]) as c(bucket, tokens)
      order by c.bucket collate "C"
      on conflict (bucket) do update
      set (started_at, taken) = (
        select case when o.is_over then excluded.started_at else w.started_at end,
          case when o.is_over then 0 else w.taken end + excluded.taken
        from (select w.started_at + ${windowMs} * interval '1 millisecond' <= excluded.started_at
          as is_over) o)
      returning w.bucket, w.started_at::text as window_id, w.taken,
        extract(epoch from w.started_at + ${windowMs} * interval '1 millisecond' - clock_timestamp())
          ::float8 * 1000 as left_ms`;
    return new Map(
      rows.map(({ bucket, window_id: windowId, taken, left_ms: leftMs }) => [
        bucket,
        { windowId, taken: Number(taken), leftMs },
      ]),
    );
  },
});

/** Removes at most `limit` windows older than `olderThanMs`. Returns the number of removed windows. */
export async function pruneRateWindows(
  sql: Sql,
  olderThanMs: number,
  limit: number,
): Promise<number> {
  const rows = await sql`
    delete from rate_windows d
    using (
      select bucket from rate_windows
      where started_at < clock_timestamp() - ${olderThanMs} * interval '1 millisecond'
      order by started_at
      limit ${limit}
      for update skip locked
    ) gone
    where d.bucket = gone.bucket
    returning 1 as one`;
  return rows.length;
}
