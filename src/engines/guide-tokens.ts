/** The part of a byte-pair encoder that is used here. */
export type Encoder = {
  encode(text: string, options: { readonly disallowedSpecial: Set<string> }): number[];
  decode(tokens: Iterable<number>): string;
};

/** The encoder's time grows with the square of an unbroken run, so longer ones are cut. */
const RUN_CHARS = 128;
const LONG_RUN = new RegExp(`(\\S{${RUN_CHARS + 1},})`);
/** Marks such as `<|endoftext|>` in a caller's text are text. */
const OPTIONS = { disallowedSpecial: new Set<string>() };

const pieces = (text: string): string[] =>
  LONG_RUN.test(text)
    ? text
        .split(LONG_RUN)
        .flatMap((part) => (part.length > RUN_CHARS && !/\s/.test(part) ? cut(part) : [part]))
    : [text];

const cut = (run: string): string[] =>
  run.match(new RegExp(`[\\s\\S]{1,${RUN_CHARS}}`, 'gu')) ?? [];

/** Exact for all text but runs of more than 128 characters without a space. */
export function countTokens(encoder: Encoder, text: string): number {
  return pieces(text).reduce((sum, piece) => sum + encoder.encode(piece, OPTIONS).length, 0);
}

/** The beginning of a text, at most so many tokens of it. */
export function firstTokens(encoder: Encoder, text: string, count: number): string {
  const tokens = encoder.encode(text, OPTIONS);
  return tokens.length <= count ? text : encoder.decode(tokens.slice(0, count));
}
