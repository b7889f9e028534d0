import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readCompletion,
  readUsage,
} from '../../../../../src/models/providers/openai/read-completion.ts';

const read = (value: unknown) => readCompletion(Buffer.from(JSON.stringify(value)));

describe('reading a completion', () => {
  it('a completion’s usage is read as the upstream counted it', async () => {
    const usage = {
      prompt_tokens: 1_200,
      completion_tokens: 400,
      total_tokens: 1_600,
      prompt_tokens_details: { cached_tokens: 200 },
    };
    expect((await read({ choices: [], usage }))?.usage).toEqual({
      inputTokens: 1_200,
      cachedTokens: 200,
      outputTokens: 400,
    });
  });

  it('a completion’s cached tokens are read under each vendor’s name for them', () => {
    const read = (more: object) =>
      readUsage({ prompt_tokens: 1_200, completion_tokens: 4, ...more })?.cachedTokens;
    expect(read({ prompt_cache_hit_tokens: 1_024, prompt_cache_miss_tokens: 176 })).toBe(1_024);
    expect(read({ cached_tokens: 256 })).toBe(256);
    const zero = { prompt_tokens_details: { cached_tokens: 0 } };
    expect(read({ ...zero, prompt_cache_hit_tokens: 1_024 })).toBe(1_024);
    expect([read({ cached_tokens: 9_999 }), read({ cached_tokens: -1 })]).toEqual([1_200, 0]);
  });

  it('a completion’s cache-write tokens are read, limited to the prompt tokens', () => {
    const usage = (cache_write_tokens: unknown) => ({
      prompt_tokens: 1_200,
      completion_tokens: 400,
      prompt_tokens_details: { cache_write_tokens },
    });
    expect(readUsage(usage(1_024))).toMatchObject({ cacheWriteTokens: 1_024 });
    expect(readUsage(usage(9_999))).toMatchObject({ cacheWriteTokens: 1_200 });
    for (const none of [0, -1, 'x']) {
      expect(readUsage(usage(none))).not.toHaveProperty('cacheWriteTokens');
    }
  });

  it('a completion’s output tokens include reasoning that is counted only in the total', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 };
    expect(readUsage(usage)?.outputTokens).toBe(30);
  });

  it('a completion without usable usage has the length of its text', async () => {
    const choices = [{ message: { content: 'four' } }, { message: { content: null } }, 7];
    expect(await read({ choices })).toMatchObject({ usage: null, answerChars: 4 });
    const calls = [{ message: { content: null, tool_calls: [{ id: 'x' }] } }];
    expect((await read({ choices: calls }))?.answerChars).toBeGreaterThan(0);
  });

  it('a completion’s text length counts the same parts that a stream would count', async () => {
    const lengthOf = async (message: object) =>
      (await read({ choices: [{ message }] }))?.answerChars;
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'four' },
      { type: 'refusal', refusal: 'No.' },
    ];
    expect(await lengthOf({ content: parts })).toBe(10);
    expect(await lengthOf({ content: null, refusal: 'No.', reasoning_content: 'Hm.' })).toBe(6);
    expect(await lengthOf({ content: 'four', reasoning: 'Hm.' })).toBe(7);
  });

  it('a completion’s note has the model that answered and the finish reasons', async () => {
    const choices = [{ finish_reason: 'stop' }, { finish_reason: 'length' }, { finish_reason: 7 }];
    const completion = await read({ model: 'gpt-dated', choices });
    expect(completion?.note?.()).toEqual({ model: 'gpt-dated', finishReasons: ['stop', 'length'] });
    expect((await read({ choices: [] }))?.note?.()).toEqual({});
  });

  it('a 2xx body that is no completion is recognized', async () => {
    for (const body of [{}, { error: {} }, { choices: {} }, [], null, 'text', 3]) {
      expect(await read(body)).toBeUndefined();
    }
    expect(await readCompletion(Buffer.from('{"choices": ['))).toBeUndefined();
  });

  it('a completion’s usage is null or billable, whatever the upstream reports', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            prompt_tokens: fc.jsonValue(),
            completion_tokens: fc.jsonValue(),
            total_tokens: fc.jsonValue(),
            prompt_tokens_details: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
        (claimed) => {
          const usage = readUsage(claimed);
          if (usage === null) return;
          for (const count of Object.values(usage)) {
            expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
          }
          expect(usage.cachedTokens).toBeLessThanOrEqual(usage.inputTokens);
        },
      ),
    );
    for (const prompt of [-1, 1.5, '3', null, 1e300]) {
      expect(readUsage({ prompt_tokens: prompt, completion_tokens: 1 })).toBeNull();
    }
  });
});
