import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readCompletion,
  readUsage,
} from '../../../../../src/models/providers/openai/read-completion.ts';

const read = (value: unknown) => readCompletion(Buffer.from(JSON.stringify(value)));

describe('reading a completion', () => {
  it('takes the usage as the upstream counted it', async () => {
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

  it('takes cached tokens under the name that the vendor has for them', () => {
    const read = (more: object) =>
      readUsage({ prompt_tokens: 1_200, completion_tokens: 4, ...more })?.cachedTokens;
    expect(read({ prompt_cache_hit_tokens: 1_024, prompt_cache_miss_tokens: 176 })).toBe(1_024);
    expect(read({ cached_tokens: 256 })).toBe(256);
    const zero = { prompt_tokens_details: { cached_tokens: 0 } };
    expect(read({ ...zero, prompt_cache_hit_tokens: 1_024 })).toBe(1_024);
    expect([read({ cached_tokens: 9_999 }), read({ cached_tokens: -1 })]).toEqual([1_200, 0]);
  });

  it('takes what the upstream wrote to its cache, never more than the prompt', () => {
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

  it('counts reasoning that a vendor left out of completion_tokens but has in the total', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 };
    expect(readUsage(usage)?.outputTokens).toBe(30);
  });

  it('says how long the answer is when there is no usable usage', async () => {
    const choices = [{ message: { content: 'four' } }, { message: { content: null } }, 7];
    expect(await read({ choices })).toMatchObject({ usage: null, answerChars: 4 });
    const calls = [{ message: { content: null, tool_calls: [{ id: 'x' }] } }];
    expect((await read({ choices: calls }))?.answerChars).toBeGreaterThan(0);
  });

  it('counts of an answer without usage what a stream of it would have counted', async () => {
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

  it('notes which model answered, and why each choice ended', async () => {
    const choices = [{ finish_reason: 'stop' }, { finish_reason: 'length' }, { finish_reason: 7 }];
    const completion = await read({ model: 'gpt-dated', choices });
    expect(completion?.note?.()).toEqual({ model: 'gpt-dated', finishReasons: ['stop', 'length'] });
    expect((await read({ choices: [] }))?.note?.()).toEqual({});
  });

  it('knows a 2xx body that is no completion', async () => {
    for (const body of [{}, { error: {} }, { choices: {} }, [], null, 'text', 3]) {
      expect(await read(body)).toBeUndefined();
    }
    expect(await readCompletion(Buffer.from('{"choices": ['))).toBeUndefined();
  });

  it('never yields a count that cannot be billed, whatever the upstream claims', () => {
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
