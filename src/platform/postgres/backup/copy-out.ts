import type { Sql, SqlTransaction } from '../sql.ts';

import type { TableLine } from './format.ts';

/** Rows of one round trip: few, because one row may hold a whole stored answer. */
const ROWS_AT_ONCE = 100;

type Fragment = ReturnType<Sql>;

/**
 * Yields a table as COPY text. Uses a cursor, since the driver may leave its socket paused for ever after COPY TO STDOUT has
 * ended or its reader has stopped.
 */
export async function* copyOut(
  tx: SqlTransaction,
  { table, columns }: TableLine,
): AsyncGenerator<{ text: Buffer; rows: number }> {
  const values = columns
    .map((column): Fragment => tx`${tx(column)}::text` as Fragment)
    .reduce((list, value) => tx`${list}, ${value}` as Fragment);
  const query = tx<Record<string, string | null>[]>`select ${values} from ${tx(table)}`;
  for await (const rows of query.values().cursor(ROWS_AT_ONCE)) {
    const text = rows.map((row) => encodeRow(row as (string | null)[])).join('');
    yield { text: Buffer.from(text), rows: rows.length };
  }
}

/**
 * Text form of PostgreSQL's COPY: columns separated by tabs, rows by line feeds, `\N` for null. These signs within a value are
 * written with a backslash.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/**
 * Returns one row in COPY text form. Its values are already in the server's own text form.
 *
 * @internal Tests decode what it writes, for any values.
 */
export const encodeRow = (values: readonly (string | null)[]): string =>
  `${values.map(encodeValue).join('\t')}\n`;

const encodeValue = (value: string | null): string =>
  value === null ? '\\N' : value.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char);
