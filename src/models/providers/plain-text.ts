const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Lowest byte that JSON allows inside a string. */
const SPACE = 0x20;

/**
 * Returns the index of the closing quote of a JSON string whose characters begin at `start`, when all are ASCII and none is
 * escaped: the string then has as many characters as bytes. Undefined for any other string.
 */
export function plainTextEnd(json: Buffer, start: number): number | undefined {
  for (let at = start; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || byte < SPACE || byte >= 0x80) return undefined;
  }
  return undefined;
}
