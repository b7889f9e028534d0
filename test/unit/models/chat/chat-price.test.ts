import { describe, expect, it } from 'vitest';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import { chatPriceRaw, meterChat } from '../../../../src/models/chat/chat-price.ts';
import type { TokenUsage } from '../../../../src/models/providers/chat-rail.ts';

const source = (rates: Source['rates']): Source => ({
  rail: 'direct-account',
  provider: 'acme',
  upstreamModel: 'fast',
  rates,
  marginBps: 500,
});
const chatUsage = (usage: TokenUsage, at: Source) =>
  meterChat({ model: 'a/b', messages: [] }, { usage, answerChars: 0 }, at).usage;
const RATES = { text_input_token: 2_500_000n, text_output_token: 10_000_000n };

describe('the usage of a chat answer', () => {
  it('a chat response’s cached prompt tokens are billed at the cached rate and the others at the input rate', () => {
    const tokens = { inputTokens: 1_000, cachedTokens: 400, outputTokens: 100 };
    const cheap = source({ ...RATES, cached_input_token: 1_250_000n });
    expect(chatUsage(tokens, cheap)).toEqual({
      text_input_token: 600,
      cached_input_token: 400,
      text_output_token: 100,
    });
    // (600 × 2.5 + 400 × 1.25 + 100 × 10) × 1.05
    expect(chatPriceRaw(tokens, cheap)).toBe(3_150n);
  });

  it('a chat response’s cache-write tokens are billed as prompt tokens plus the surcharge', () => {
    const tokens = { inputTokens: 1_000, cachedTokens: 400, outputTokens: 100 };
    const written = { ...tokens, cacheWriteTokens: 500, cacheWriteSurcharge: 125 };
    const cheap = source({ ...RATES, cached_input_token: 1_250_000n });
    expect(chatUsage(written, cheap)).toMatchObject({ text_input_token: 725 });
    // (725 × 2.5 + 400 × 1.25 + 100 × 10) × 1.05, rounded up
    expect(chatPriceRaw(written, cheap)).toBe(3_479n);
  });

  it('a chat response’s fractional cache surcharge is billed exactly, and the price is rounded up once', () => {
    const tokens = {
      inputTokens: 1_001,
      cachedTokens: 0,
      outputTokens: 0,
      cacheWriteTokens: 1_001,
    };
    const dear = source({ text_input_token: 15_000_000n, text_output_token: 75_000_000n });
    // 1,251.25 × 15 × 1.05 is 19,707.1875; with 251 whole tokens it was 19,719.
    for (const written of [
      { tokens: { ...tokens, cacheWriteSurcharge: 250.25 }, at: dear },
      { tokens, at: { ...dear, cacheWritePercent: 25 } },
    ]) {
      expect(chatUsage(written.tokens, written.at)).toMatchObject({ text_input_token: 1_251.25 });
      expect(chatPriceRaw(written.tokens, written.at)).toBe(19_708n);
    }
  });

  it('a chat response’s cached tokens are billed as prompt tokens when there is no cached rate', () => {
    const tokens = { inputTokens: 1_000, cachedTokens: 400, outputTokens: 100 };
    expect(chatPriceRaw(tokens, source(RATES))).toBe(3_675n);
  });

  it('a chat response with a long prompt is billed at the vendor’s long-prompt rates as a whole', () => {
    const longPrompt = { above: 272_000, inputPercent: 200, outputPercent: 150 };
    const long = { ...source({ ...RATES, cached_input_token: 250_000n }), longPrompt };
    const tokens = { inputTokens: 272_000, cachedTokens: 100_000, outputTokens: 1_000 };
    // (172,000 × 2.5 + 100,000 × 0.25 + 1,000 × 10) × 1.05
    expect(chatPriceRaw(tokens, long)).toBe(488_250n);
    // (172,001 × 5 + 100,000 × 0.5 + 1,000 × 15) × 1.05, rounded up
    expect(chatPriceRaw({ ...tokens, inputTokens: 272_001 }, long)).toBe(971_256n);
    const { rates, usage } = meterChat(
      { model: 'a/b', messages: [] },
      { usage: { ...tokens, inputTokens: 272_001 }, answerChars: 0 },
      long,
    );
    expect(usage).toMatchObject({ text_input_token: 172_001, text_output_token: 1_000 });
    expect(rates).toEqual({
      text_input_token: 5_000_000n,
      text_output_token: 15_000_000n,
      cached_input_token: 500_000n,
    });
  });

  it('a chat response’s prompt that the vendor caches unasked is billed with its surcharge', () => {
    const caching = { ...source(RATES), cacheWritePercent: 25 };
    const tokens = {
      inputTokens: 2_000,
      cachedTokens: 0,
      outputTokens: 0,
      cacheWriteTokens: 1_800,
    };
    expect(chatUsage(tokens, caching)).toMatchObject({ text_input_token: 2_450 });
    expect(chatUsage(tokens, source(RATES))).toMatchObject({ text_input_token: 2_000 });
  });

  it('a chat response counts one request when the source bills by the request', () => {
    const tokens = { inputTokens: 5, cachedTokens: 0, outputTokens: 5 };
    const flat = source({ request: 2_000_000_000n });
    expect(chatUsage(tokens, flat)).toMatchObject({ request: 1 });
    expect(chatPriceRaw(tokens, flat)).toBe(2_100n);
    expect(chatUsage(tokens, source(RATES))).not.toHaveProperty('request');
  });
});
