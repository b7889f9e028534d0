import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundChat, shrinkBound, withCap } from '../../../src/gateway/bound-chat.ts';
import type { Model, Source } from '../../../src/gateway/catalogue.ts';
import { ChatRequest } from '../../../src/gateway/chat-request.ts';
import { chatPriceRaw } from '../../../src/gateway/chat-usage.ts';
import { LIMITS } from '../../../src/kernel/limits.ts';

const source = (input: bigint, output: bigint): Source => ({
  ...{ rail: 'direct-account', provider: 'p', upstreamModel: 'm', marginBps: 500 },
  rates: { text_input_token: input, text_output_token: output },
});

const modelOf = (maxOutputTokens: number | null, sources: readonly Source[] = []): Model => ({
  ...{ id: 'a/b', modality: 'text', contextWindow: null, maxOutputTokens, sources },
});

const request = (more: object = {}, content: unknown = 'x'): ChatRequest =>
  ChatRequest.parse({ model: 'a/b', messages: [{ role: 'user', content }], ...more });

const inputOf = (more: object, content?: unknown) =>
  boundChat(request(more, content), modelOf(null)).tokens.inputTokens - LIMITS.tokensPerMessage;

describe('the bound of a chat request', () => {
  it('takes a token for every byte that is said, and some for each message', () => {
    expect(inputOf({}, 'hello')).toBe(5);
    expect(inputOf({}, '世界🎉')).toBe(10);
    const parts = [
      { type: 'text', text: 'abc' },
      { type: 'text', text: 'é' },
    ];
    expect(inputOf({}, parts)).toBe(5);
    expect(inputOf({}, null)).toBe(4);
    const messages = Array.from({ length: 3 }, () => ({ role: 'user', content: '' }));
    const { tokens } = boundChat(ChatRequest.parse({ model: 'a/b', messages }), modelOf(null));
    expect(tokens.inputTokens).toBe(3 * LIMITS.tokensPerMessage);
  });

  it('takes as much for an image as it can come to, however long its address is', () => {
    const image = (url: string) => [{ type: 'image_url', image_url: { url } }];
    const short = inputOf({}, image('https://x.example/a.png'));
    expect(short).toBe(LIMITS.tokensPerOpaquePart);
    expect(inputOf({}, image(`data:image/png;base64,${'A'.repeat(100_000)}`))).toBe(short);
  });

  it('counts a prompt twice that an upstream is asked to keep: that is what keeping can cost', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const parts = [{ type: 'text', text: 'hello' }];
    const all = (more: object, content: unknown) =>
      inputOf(more, content) + LIMITS.tokensPerMessage;
    const plain = all({}, parts);
    expect(all({}, [{ ...parts[0], cache_control }])).toBe(2 * plain);
    expect(all({}, [{ ...parts[0], cache_control: null }])).toBe(plain);
    for (const tool of [
      { type: 'function', function: { name: 'f' }, cache_control },
      { type: 'function', function: { name: 'f', cache_control } },
    ]) {
      const bytes = Buffer.byteLength(JSON.stringify([tool]));
      expect(all({ tools: [tool] }, parts)).toBe(2 * (plain + bytes));
    }
  });

  it('counts tools, and calls of them that went before', () => {
    const tools = [{ type: 'function', function: { name: 'f'.repeat(100) } }];
    expect(inputOf({ tools })).toBeGreaterThan(100);
    const called = { role: 'assistant', content: null, tool_calls: [{ id: 'x'.repeat(100) }] };
    const bound = boundChat(ChatRequest.parse({ model: 'a/b', messages: [called] }), modelOf(null));
    expect(bound.tokens.inputTokens).toBeGreaterThan(100);
  });

  it.each([
    ['the caller’s cap', { max_tokens: 10 }, null, 10, 10],
    ['the larger of two', { max_tokens: 10, max_completion_tokens: 20 }, null, 20, 20],
    ['the caller’s for each answer', { max_tokens: 10, n: 5 }, null, 10, 50],
    ['the model’s', {}, 100, 100, 100],
    ['the model’s where the caller wants more', { max_tokens: 5_000 }, 100, 100, 100],
    ['4,096 where nobody knows', {}, null, 4_096, 4_096],
  ])('of the output is %s', (_, more, modelMost, cap, all) => {
    const bound = boundChat(request(more), modelOf(modelMost));
    expect([bound.outputCap, bound.tokens.outputTokens]).toEqual([cap, all]);
  });

  it('is never below what a text of so many bytes can come to', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(inputOf({}, text)).toBe(Buffer.byteLength(text));
      }),
    );
  });
});

describe('a bound that is shrunk', () => {
  it('has the longest answer that every source gives for the money', () => {
    const rate = fc.bigInt(0n, 10n ** 8n);
    const sources = fc.array(
      fc.tuple(rate, rate).map(([input, output]) => source(input, output)),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(
        sources,
        fc.bigInt(0n, 10n ** 6n),
        fc.integer({ min: 1, max: 4 }),
        (all, raw, n) => {
          const model = modelOf(null, all);
          const asked = request({ n });
          const bound = boundChat(asked, model);
          const less = shrinkBound(bound, asked, model, raw);
          const costsAt = (outputCap: number) => {
            const tokens = { ...bound.tokens, outputTokens: outputCap * n };
            return all.map((each) => chatPriceRaw(tokens, each));
          };
          const fits = (cap: number) => costsAt(cap).every((cost) => cost <= raw);
          if (less === undefined) expect(fits(LIMITS.leastOutputTokens)).toBe(false);
          else {
            expect(fits(less.outputCap)).toBe(true);
            expect(less.outputCap === bound.outputCap || !fits(less.outputCap + 1)).toBe(true);
            expect(less.tokens.outputTokens).toBe(less.outputCap * n);
          }
        },
      ),
    );
  });

  it('keeps a cap that is shorter than an answer should be', () => {
    const model = modelOf(null, [source(0n, 1_000_000n)]);
    const asked = request({ max_tokens: 2 });
    expect(shrinkBound(boundChat(asked, model), asked, model, 10n)?.outputCap).toBe(2);
  });
});

describe('the cap that is sent', () => {
  it('stands where the caller wrote it, else where every upstream looks', () => {
    expect(withCap(request(), 7)).toMatchObject({ max_tokens: 7 });
    expect(withCap(request({ max_tokens: 9 }), 7)).toMatchObject({ max_tokens: 7 });
    const long = withCap(request({ max_completion_tokens: 9 }), 7);
    expect([long.max_completion_tokens, 'max_tokens' in long]).toEqual([7, false]);
    const both = withCap(request({ max_tokens: 8, max_completion_tokens: 9 }), 7);
    expect([both.max_completion_tokens, both.max_tokens]).toEqual([7, 7]);
  });
});
