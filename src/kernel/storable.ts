/** Returns true when the database keeps a text as it is: PostgreSQL takes no NUL, and half a character becomes another one. */
export const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Cs}/u.test(text);

/** Returns a text that the database can hold: a caller's odd text never keeps money from moving. */
export const storableText = (text: string): string =>
  text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd');

/** Escapes in JSON that the database cannot hold: NUL, and half of a character. */
const UNHOLDABLE = /\\u0000|\\u[dD][89a-fA-F]/;
const clean = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? storableText(value) : value;

/** Returns JSON whose texts the database can hold. */
export function storableJson(value: object): string {
  const json = JSON.stringify(value);
  return UNHOLDABLE.test(json) ? JSON.stringify(value, clean) : json;
}

/** Returns the beginning of a text: at most `chars` UTF-16 units, without half of a character at its end. */
export function headOf(text: string, chars: number): string {
  const head = text.slice(0, chars);
  const isSplit = text.length > chars && /[\uD800-\uDBFF]$/.test(head);
  return isSplit ? head.slice(0, -1) : head;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Characters that no XML document may hold, not even escaped: control characters, halves of characters, U+FFFE and U+FFFF. */
const NO_XML = /(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu;

/**
 * Returns a text as content or attribute of XML 1.0: escapes its signs, and replaces characters that XML cannot hold with
 * spaces.
 */
export const xmlText = (text: string): string =>
  text.replace(NO_XML, ' ').replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);
