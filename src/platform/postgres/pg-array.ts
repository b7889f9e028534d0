/** Writes array literals by itself, since the driver's own serializer works element by element. */

const escaped = (text: string): string =>
  text.includes('"') || text.includes('\\') ? text.replace(/[\\"]/g, '\\$&') : text;

/**
 * Returns the literal of a `text[]`. Elements may have any character but NUL, which PostgreSQL refuses, and may be array
 * literals.
 */
export function textArray(items: readonly (string | null)[]): string {
  let literal = '{';
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (i > 0) literal += ',';
    literal += item === null || item === undefined ? 'NULL' : `"${escaped(item)}"`;
  }
  return `${literal}}`;
}

/** Returns the literal of an `integer[]` or `bigint[]`. */
export function numberArray(items: readonly (number | bigint | null)[]): string {
  let literal = '{';
  for (let i = 0; i < items.length; i++) {
    if (i > 0) literal += ',';
    literal += items[i] ?? 'NULL';
  }
  return `${literal}}`;
}
