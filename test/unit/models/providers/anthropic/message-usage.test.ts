import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  completionUsage,
  readMessageUsage,
} from '../../../../../src/models/providers/anthropic/message-usage.ts';
import { readUsage } from '../../../../../src/models/providers/openai/read-completion.ts';

describe('the usage of a message', () => {
  it('an Anthropic message’s prompt tokens include the tokens read from and written to the cache', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 200,
      cache_creation_input_tokens: 3_000,
      output_tokens: 40,
    };
    const read = readMessageUsage(usage);
    expect(read).toEqual({
      inputTokens: 3_210,
      cachedTokens: 200,
      outputTokens: 40,
      cacheWriteTokens: 3_000,
      cacheWriteSurcharge: 750,
    });
    expect(read && completionUsage(read)).toEqual({
      prompt_tokens: 3_210,
      completion_tokens: 40,
      total_tokens: 3_250,
      prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 3_000 },
    });
  });

  it('an Anthropic message’s one-hour cache writes cost twice the prompt, up to the written tokens', () => {
    const surcharge = (ephemeral_1h_input_tokens: unknown) =>
      readMessageUsage({
        input_tokens: 1,
        output_tokens: 2,
        cache_creation_input_tokens: 1_001,
        cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens },
      })?.cacheWriteSurcharge;
    expect([surcharge(1_000), surcharge(0), surcharge(5_000)]).toEqual([1_000.25, 250.25, 1_001]);
    expect(surcharge('many')).toBe(250.25);
  });

  it('an Anthropic message’s cache writes are summed from their kinds when no total is given', () => {
    const kinds = { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 100 };
    expect(
      readMessageUsage({ input_tokens: 1, output_tokens: 2, cache_creation: kinds }),
    ).toMatchObject({ inputTokens: 501, cacheWriteTokens: 500, cacheWriteSurcharge: 200 });
  });

  it('an Anthropic message without cache counts has no cached tokens', () => {
    const plain = { input_tokens: 1, output_tokens: 2 };
    const counts = { inputTokens: 1, cachedTokens: 0, outputTokens: 2 };
    expect(readMessageUsage(plain)).toEqual(counts);
    const nulls = { cache_read_input_tokens: null, cache_creation_input_tokens: null };
    expect(readMessageUsage({ ...plain, ...nulls })).toEqual(counts);
  });

  it('an Anthropic message’s usage is null or billable, whatever the upstream reports', () => {
    const claim = fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.jsonValue());
    const claims = fc.record(
      {
        input_tokens: claim,
        output_tokens: claim,
        cache_read_input_tokens: claim,
        cache_creation_input_tokens: claim,
        cache_creation: fc.oneof(claim, fc.record({ ephemeral_1h_input_tokens: claim })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(claims, (claimed) => {
        const usage = readMessageUsage(claimed);
        if (usage === null) return;
        for (const count of Object.values(usage)) {
          expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
        }
        expect(usage.cachedTokens).toBeLessThanOrEqual(usage.inputTokens);
        const { cacheWriteSurcharge = 0, ...counts } = usage;
        const { cacheWriteTokens = 0 } = counts;
        expect(cacheWriteTokens).toBeLessThanOrEqual(usage.inputTokens - usage.cachedTokens);
        expect(cacheWriteSurcharge).toBeLessThanOrEqual(cacheWriteTokens);
        // What the caller reads is what is charged, but for what writing costs more.
        expect(readUsage(completionUsage(usage))).toEqual(counts);
      }),
    );
    for (const odd of [undefined, null, 7, 'x', { input_tokens: 1 }, { output_tokens: 1 }]) {
      expect(readMessageUsage(odd)).toBeNull();
    }
  });
});
