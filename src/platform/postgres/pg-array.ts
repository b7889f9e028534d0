/** Array literals written by hand: the driver's own serializer works element by element. */

const escaped = (text: string): string =>
  text.includes('"') || text.includes('\\') ? text.replace(/[\\"]/g, '\\$&') : text;

/** `text[]` of anything but NUL, which PostgreSQL refuses. Array literals may be elements, too. */
export function textArray(items: readonly (string | null)[]): string {
  let literal = '{';
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (i > 0) literal += ',';
    literal += item === null || item === undefined ? 'NULL' : `"${escaped(item)}"`;
  }
  return `${literal}}`;
}

/** `integer[]` or `bigint[]`. */
export function numberArray(items: readonly (number | bigint | null)[]): string {
  let literal = '{';
  for (let i = 0; i < items.length; i++) {
    if (i > 0) literal += ',';
    literal += items[i] ?? 'NULL';
  }
  return `${literal}}`;
}
