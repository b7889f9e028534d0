/** The beginning of the escape that `JSON.stringify` writes for a lone surrogate. It writes pairs unescaped. */
const ESCAPE = '\\ud';

/** An escaped backslash, or the escape of a lone surrogate. */
const HALF_OR_BACKSLASH = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;

/** Replaces lone surrogates by U+FFFD in a text that `JSON.stringify` wrote: vendors refuse JSON with lone surrogates. */
export const wellFormed = (text: string): string =>
  text.includes(ESCAPE)
    ? text.replace(HALF_OR_BACKSLASH, (found) => (found === '\\\\' ? found : '\ufffd'))
    : text;
