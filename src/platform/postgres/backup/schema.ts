import type { Queryable } from '../sql.ts';
import type { TableLine, Tail } from './format.ts';

/** Returns the tables of this schema with the columns that hold data of their own, in a fixed order. */
export async function listTables(sql: Queryable): Promise<TableLine[]> {
  const rows = await sql<{ table: string; columns: string[] }[]>`
    select c.relname as "table", array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attgenerated = ''
    group by c.relname order by c.relname`;
  return [...rows];
}

/** Reads the position of every sequence. Sequences ignore snapshots, so positions read after the rows are never behind them. */
export async function listSequences(sql: Queryable): Promise<Tail['sequences']> {
  const names = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'S' order by relname`;
  const found: Tail['sequences'] = [];
  for (const { name } of names) {
    const [at] = await sql<{ last: string; called: boolean }[]>`
      select last_value::text as last, is_called as called from ${sql(name)}`;
    if (at !== undefined) found.push({ name, ...at });
  }
  return found;
}

/** Returns the hashes of the applied migrations in order. Empty for a database that was never migrated. */
export async function listMigrations(sql: Queryable): Promise<string[]> {
  const [place] = await sql<{ there: boolean }[]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as there`;
  if (place?.there !== true) return [];
  const rows = await sql<{ hash: string }[]>`
    select hash from drizzle.__drizzle_migrations order by created_at, id`;
  return rows.map((row) => row.hash);
}

export type ForeignKey = {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
};

export async function listForeignKeys(sql: Queryable): Promise<ForeignKey[]> {
  const rows = await sql<ForeignKey[]>`
    select t.relname as "table", k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class t on t.oid = k.conrelid
    where k.contype = 'f' and k.connamespace = 'public'::regnamespace order by 1, 2`;
  return [...rows];
}
