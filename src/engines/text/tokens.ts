import { EngineInputRefused } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';

/** The methods of a byte-pair encoder that are used here. */
export type Encoder = {
  encode(text: string, options: { readonly disallowedSpecial: Set<string> }): number[];
  decode(tokens: Iterable<number>): string;
};

/**
 * Upper bound in characters of a run of only space or only non-space that is encoded at once. The time to encode a run grows
 * with the square of its length.
 */
const RUN_CHARS = 128;
const LONG_RUN = new RegExp(`(\\S{${RUN_CHARS + 1},}|\\s{${RUN_CHARS + 1},})`);
/** Encodes marks such as `<|endoftext|>` in a caller's text as ordinary text. */
const OPTIONS = { disallowedSpecial: new Set<string>() };

/** Splits a text and cuts its long runs. A split by a group puts the matches, which are the long runs, at the odd indexes. */
const pieces = (text: string): string[] =>
  text.split(LONG_RUN).flatMap((part, at) => (at % 2 === 1 ? cut(part) : [part]));

const cut = (run: string): string[] =>
  run.match(new RegExp(`[\\s\\S]{1,${RUN_CHARS}}`, 'gu')) ?? [];

/** Counts the tokens of a text. Exact except for runs of more than 128 characters that are all space or all non-space. */
export function countTokens(encoder: Encoder, text: string): number {
  return pieces(text).reduce((sum, piece) => sum + encoder.encode(piece, OPTIONS).length, 0);
}

/** Returns the beginning of a text, at most `count` tokens. */
export function firstTokens(encoder: Encoder, text: string, count: number): string {
  const tokens = encoder.encode(text, OPTIONS);
  return tokens.length <= count ? text : encoder.decode(tokens.slice(0, count));
}

/** Returns the text of tokens. Throws EngineInputRefused when the encoder has no such token, or the text is too long. */
export function readTokens(encoder: Encoder, tokens: readonly number[]): string {
  const { textChars: embedTextChars } = ENGINE_LIMITS.embedding;
  let text: string;
  try {
    text = encoder.decode(tokens);
  } catch {
    throw new EngineInputRefused('input has a token that cl100k_base does not have.', 'input');
  }
  if (text.length > embedTextChars) {
    throw new EngineInputRefused(`input has at most ${embedTextChars} characters a text.`, 'input');
  }
  return text;
}
