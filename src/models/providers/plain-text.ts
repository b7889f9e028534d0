const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** JSON has no byte below this one in a string. */
const SPACE = 0x20;

/**
 * Where a JSON string ends whose characters begin at `start`, if all of them are ASCII and none is escaped: then it has as
 * many characters as bytes. Undefined for any other string.
 */
export function plainTextEnd(json: Buffer, start: number): number | undefined {
  for (let at = start; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || byte < SPACE || byte >= 0x80) return undefined;
  }
  return undefined;
}
