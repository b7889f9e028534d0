import * as encoder from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, it } from 'vitest';
import { countTokens, firstTokens } from '../../../../src/engines/text/tokens.ts';

describe('guide tokens', () => {
  it('countTokens counts as the encoder does, line breaks and special marks included', () => {
    const text = 'Hello there.\n\nWhat is <|endoftext|> my balance?  ';
    const plain = encoder.encode(text, { disallowedSpecial: new Set() }).length;
    expect(countTokens(encoder, text)).toBe(plain);
    expect(countTokens(encoder, '')).toBe(0);
  });

  it('countTokens takes less than three seconds for long runs of spaces or letters', () => {
    const started = performance.now();
    expect(countTokens(encoder, 'a'.repeat(100_000))).toBeGreaterThan(5_000);
    expect(countTokens(encoder, '日本語'.repeat(10_000))).toBeGreaterThan(5_000);
    const space = ' '.repeat(200_000);
    expect(countTokens(encoder, space)).toBeGreaterThan(500);
    expect(countTokens(encoder, `${space}x\n${'\n \t'.repeat(50_000)}`)).toBeGreaterThan(500);
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('countTokens never counts more tokens than there are bytes', () => {
    for (const text of ['é', '😀😀', 'zzyzx', '\u0000']) {
      expect(countTokens(encoder, text)).toBeLessThanOrEqual(Buffer.byteLength(text));
    }
  });

  it('an answer of the guide is cut to its token limit', () => {
    const cut = firstTokens(encoder, 'Your balance is 4 dollars and 99 cents.', 3);
    expect(cut).toBe('Your balance is');
    expect(firstTokens(encoder, 'Hello.', 50)).toBe('Hello.');
  });
});
