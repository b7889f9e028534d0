import type { Queryable } from '../../platform/postgres/sql.ts';
import type { KeyType, Section } from './section.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Place of a row in its section: the values of the key's columns as text. */
export type Place = readonly string[];

export type Page = {
  readonly rows: readonly Row[];
  /** Place of the last row. Undefined on the last page. */
  readonly next: Place | undefined;
};

/** Reads the rows of one owner that come after a place, in the order of the section's key. */
export async function findPage(
  sql: Queryable,
  section: Section,
  page: {
    readonly owner: number | string;
    readonly after: Place | undefined;
    readonly limit: number;
  },
): Promise<Page> {
  const { columns, key, table } = section;
  const places = key
    .map(([column], at) => sql`${sql(column)}::text as ${sql(`place_${at}`)}`)
    .reduce((list, place) => sql`${list}, ${place}`);
  const order = key
    .map(([column]) => sql`${sql(column)}`)
    .reduce((list, column) => sql`${list}, ${column}`);
  const owner = typeof page.owner === 'number' ? sql`${page.owner}::int` : sql`${page.owner}`;
  const rows = await sql<Record<string, unknown>[]>`
    select ${sql([...columns])}, ${places} from ${sql(table)}
    where ${sql(section.owner)} = ${owner} ${after(sql, section, page.after)}
      and ${sql(key[0]?.[0] ?? '')} is not null
    order by ${order} limit ${page.limit}`;
  const last = rows.length < page.limit ? undefined : rows.at(-1);
  return {
    next: last && key.map((_, at) => String(last[`place_${at}`])),
    rows: rows.map((row) =>
      Object.fromEntries(columns.map((column) => [camelCase(column), row[column]])),
    ),
  };
}

function after(sql: Queryable, { key }: Section, place: Place | undefined) {
  if (place === undefined) return sql``;
  const columns = key
    .map(([column]) => sql`${sql(column)}`)
    .reduce((list, column) => sql`${list}, ${column}`);
  const values = key
    .map(([, type], at) => keyValue(sql, type, place[at] ?? ''))
    .reduce((list, value) => sql`${list}, ${value}`);
  return sql`and (${columns}) > (${values})`;
}

function keyValue(sql: Queryable, type: KeyType, text: string) {
  switch (type) {
    case 'bigint':
      return sql`${text}::bigint`;
    case 'integer':
      return sql`${text}::text::integer`;
    case 'text':
      return sql`${text}`;
    case 'timestamptz':
      return sql`${text}::text::timestamptz`;
  }
}

const camelCase = (column: string): string =>
  column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
