/**
 * The text form of PostgreSQL's COPY: columns apart by tabs, rows by line feeds, `\N` for null. What
 * would be mistaken for one of these is written with a backslash.
 */

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** One row; its values are already in the server's own text form. */
export const encodeRow = (values: readonly (string | null)[]): string =>
  `${values.map(encodeValue).join('\t')}\n`;

const encodeValue = (value: string | null): string =>
  value === null ? '\\N' : value.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char);
