/** How `JSON.stringify` begins the escape of half a pair of surrogates; whole pairs stand unescaped in its texts. */
const ESCAPE = '\\ud';

/** A backslash that is escaped itself, or half a pair. */
const HALF_OR_BACKSLASH = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;

/** A text that `JSON.stringify` wrote, with U+FFFD for each half of a pair of surrogates: vendors refuse JSON that has one. */
export const wellFormed = (text: string): string =>
  text.includes(ESCAPE)
    ? text.replace(HALF_OR_BACKSLASH, (found) => (found === '\\\\' ? found : '\ufffd'))
    : text;
