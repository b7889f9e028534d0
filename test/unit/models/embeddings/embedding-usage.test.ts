import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import {
  boundTokens,
  embeddingPriceRaw,
  meterEmbeddings,
} from '../../../../src/models/embeddings/embedding-usage.ts';

const source = (rates: Source['rates']): Source => ({
  rail: 'direct-account',
  provider: 'acme',
  upstreamModel: 'v',
  marginBps: 500,
  rates,
});
const BY_TOKEN = source({ text_input_token: 20_000_000n });

describe('the tokens of an input', () => {
  it('the token bound of an embedding input is its bytes, or the exact number of given tokens', () => {
    expect(boundTokens('né')).toBe(3);
    expect(boundTokens(['né', '', 'ab'])).toBe(5);
    expect(boundTokens([900, 7])).toBe(2);
    expect(boundTokens([[900, 7], [5]])).toBe(3);
  });

  it('embedding tokens are billed as the upstream reports', () => {
    expect(meterEmbeddings('abcd', 9, BY_TOKEN)).toEqual({
      usage: { text_input_token: 9 },
      estimated: false,
    });
    expect(embeddingPriceRaw(1_000, BY_TOKEN)).toBe(21_000n);
  });

  it('embedding tokens are estimated and marked so when the upstream reports none, within the bound', () => {
    const estimate = (input: string | string[] | number[][]) =>
      meterEmbeddings(input, null, BY_TOKEN);
    expect(estimate(['abcde', 'f'])).toEqual({ usage: { text_input_token: 3 }, estimated: true });
    expect(estimate([[1, 2], [3]]).usage).toEqual({ text_input_token: 3 });
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
        const { text_input_token: tokens = 0 } = estimate(texts).usage;
        expect(tokens).toBeLessThanOrEqual(boundTokens(texts));
      }),
    );
  });

  it('embedding tokens cost nothing at a source that bills by the request', () => {
    const flat = source({ request: 2_000_000_000n });
    expect(meterEmbeddings('a', 5, flat).usage).toEqual({ text_input_token: 5, request: 1 });
    expect(embeddingPriceRaw(1_000_000, flat)).toBe(2_100n);
  });
});
