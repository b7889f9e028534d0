import type { Queryable, Sql } from '../../src/platform/postgres/sql.ts';

/** How many rows of the tables `work` has the database read. What the connection did before is not counted. */
export function rowsReadBy(
  sql: Sql,
  tables: readonly string[],
  work: (tx: Queryable) => Promise<unknown>,
): Promise<number> {
  return sql.begin(async (tx) => {
    const read = async () => {
      const [row] = await tx<{ count: number }[]>`
        select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count
        from pg_stat_xact_user_tables where relname = any (${tables as string[]}::text[])`;
      return row?.count ?? 0;
    };
    const before = await read();
    await work(tx);
    return (await read()) - before;
  }) as Promise<number>;
}
