import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { boundChat, shrinkBound, withCap } from '../../../../src/models/chat/bound-chat.ts';
import { chatPriceRaw } from '../../../../src/models/chat/chat-price.ts';
import { ChatRequest } from '../../../../src/models/chat/chat-request.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';

const source = (input: bigint, output: bigint): Source => ({
  rail: 'direct-account',
  provider: 'p',
  upstreamModel: 'm',
  marginBps: 500,
  rates: { text_input_token: input, text_output_token: output },
});

const modelOf = (maxOutputTokens: number | null, sources: readonly Source[] = []): Model => ({
  id: 'a/b',
  modality: 'text',
  contextWindow: null,
  maxOutputTokens,
  sources,
});

const request = (more: object = {}, content: unknown = 'x'): ChatRequest =>
  ChatRequest.parse({ model: 'a/b', messages: [{ role: 'user', content }], ...more });

const inputOf = (more: object, content?: unknown) =>
  boundChat(request(more, content), modelOf(null)).tokens.inputTokens -
  MODEL_LIMITS.tokens.perMessage;

describe('the bound of a chat request', () => {
  it('a chat request’s token bound has one token per byte of text, plus a fixed number per message', () => {
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
    expect(tokens.inputTokens).toBe(3 * MODEL_LIMITS.tokens.perMessage);
  });

  it('a chat request’s token bound multiplies the output and the prediction by the number of answers', () => {
    const outputOf = (more: object) => boundChat(request(more), modelOf(null)).tokens.outputTokens;
    expect(outputOf({ max_tokens: 100, n: 3 })).toBe(300);
    const prediction = { type: 'content', content: 'x'.repeat(48) };
    expect(outputOf({ max_tokens: 100, n: 2, prediction })).toBe(2 * (100 + 50));
  });

  it('a chat request’s token bound has the most that an image can cost, however long its URL is', () => {
    const image = (url: string) => [{ type: 'image_url', image_url: { url } }];
    const short = inputOf({}, image('https://x.example/a.png'));
    expect(short).toBe(MODEL_LIMITS.tokens.perImage);
    expect(inputOf({}, image(`data:image/png;base64,${'A'.repeat(100_000)}`))).toBe(short);
  });

  it('a chat request’s output cap is the rest of the context window when the model’s output limit is unknown', () => {
    const model = { ...modelOf(null), contextWindow: 128_000 };
    const { outputCap, reason } = boundChat(request({}, 'x'.repeat(40_000)), model);
    expect([outputCap, reason]).toEqual([115_000, 'model']);
    // What the caller asks for is for the vendor to judge.
    expect(boundChat(request({ max_tokens: 127_000 }), model)).toMatchObject({
      outputCap: 127_000,
      reason: undefined,
    });
  });

  it('a chat request’s output cap leaves room in the context window for the prompt', () => {
    const model = { ...modelOf(100_000), contextWindow: 128_000 };
    expect(boundChat(request({}, 'x'.repeat(200_000)), model).outputCap).toBe(63_000);
    expect(boundChat(request({}, 'x'.repeat(900_000)), model).outputCap).toBe(
      MODEL_LIMITS.tokens.unknownOutput,
    );
  });

  it('a chat request’s token bound for an image is that of the source which counts most', () => {
    const dear = { ...source(1n, 1n), imageTokens: 48_169 };
    const asked = request({}, [{ type: 'image_url', image_url: { url: 'https://x.example/a' } }]);
    const bound = boundChat(asked, modelOf(null, [source(1n, 1n), dear]));
    expect(bound.tokens.inputTokens).toBe(48_169 + MODEL_LIMITS.tokens.perMessage);
  });

  it('a chat request’s token bound for audio and files follows their length', () => {
    const data = 'A'.repeat(640_000);
    const sound = [{ type: 'input_audio', input_audio: { data, format: 'mp3' } }];
    // Eight kilobits a second, the least of MP3, at the 32 tokens a second that the most counted vendor counts.
    expect(inputOf({}, sound)).toBeGreaterThanOrEqual(((640_000 * 3) / 4 / 1_000) * 32);
    const file = [{ type: 'file', file: { filename: 'a.txt', file_data: data } }];
    expect(inputOf({}, file)).toBeGreaterThanOrEqual((640_000 * 3) / 4);
  });

  it('a chat request’s token bound counts every member of a part, whatever type the part states', () => {
    const image_url = { url: 'https://x.example/a.png' };
    const input_audio = { data: 'A'.repeat(320), format: 'wav' };
    const file = { file_data: 'A'.repeat(50) };
    const { perImage: most, soundBytesEach: soundBytesPerToken } = MODEL_LIMITS.tokens;
    const sound = most + 320 / soundBytesPerToken;
    for (const type of ['text', 'image_url', 'input_audio', 'file']) {
      expect(inputOf({}, [{ type, text: 'abc', image_url }])).toBe(3 + most);
      expect(inputOf({}, [{ type, text: '', input_audio }])).toBe(sound);
      expect(inputOf({}, [{ type, text: '', file }])).toBe(most + 50);
      const all = [{ type, text: 'abc', image_url, input_audio, file }];
      expect(inputOf({}, all)).toBe(3 + most + sound + most + 50);
    }
    expect(inputOf({}, [{ type: 'text', text: '', input_audio: {} }])).toBeGreaterThan(most);
    expect(inputOf({}, [{ type: 'text', text: '', file: { file_id: 'f' } }])).toBeGreaterThan(most);
    const film = { type: 'video_url', text: '', video_url: { url: 'https://x.example/a' } };
    expect(inputOf({}, [film])).toBeGreaterThan(most);
    expect(inputOf({}, [{ type: 'text', text: 'abc', image_url: null }])).toBe(3);
  });

  it('a chat request’s token bound counts schemas that a vendor writes into the prompt', () => {
    for (const member of ['tools', 'functions', 'response_format']) {
      const value = [{ type: 'x', text: 'x'.repeat(5_000) }];
      expect(inputOf({ [member]: value }) - inputOf({})).toBeGreaterThan(5_000);
    }
  });

  it('a chat request’s token bound doubles the prompt when a part is marked for caching', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' };
    const parts = [{ type: 'text', text: 'hello' }];
    const all = (more: object, content: unknown) =>
      inputOf(more, content) + MODEL_LIMITS.tokens.perMessage;
    const plain = all({}, parts);
    expect(all({}, [{ ...parts[0], cache_control }])).toBe(2 * plain);
    expect(all({}, [{ ...parts[0], cache_control: null }])).toBe(plain);
    for (const tool of [
      { type: 'function', function: { name: 'f' }, cache_control },
      { type: 'function', function: { name: 'f', cache_control } },
    ]) {
      const bytes = Buffer.byteLength(JSON.stringify([tool]));
      expect(all({ tools: [tool] }, parts)).toBe(
        2 * (plain + bytes + MODEL_LIMITS.tokens.ofPreamble),
      );
    }
  });

  it('a chat request’s token bound covers the surcharge of a source that writes its cache unasked', () => {
    const caching = { ...source(1_000_000n, 1n), cacheWritePercent: 25, marginBps: 0 };
    const { tokens } = boundChat(request({ max_tokens: 1 }, 'x'.repeat(992)), modelOf(null));
    const price = chatPriceRaw(tokens, caching);
    expect([price, chatPriceRaw(tokens, { ...caching, cacheWritePercent: 0 })]).toEqual([
      1_251n,
      1_001n,
    ]);
  });

  it('a chat request’s token bound counts tools and earlier tool calls', () => {
    const tools = [{ type: 'function', function: { name: 'f'.repeat(100) } }];
    expect(inputOf({ tools })).toBeGreaterThan(100);
    const called = { role: 'assistant', content: null, tool_calls: [{ id: 'x'.repeat(100) }] };
    const bound = boundChat(ChatRequest.parse({ model: 'a/b', messages: [called] }), modelOf(null));
    expect(bound.tokens.inputTokens).toBeGreaterThan(100);
  });

  it.each([
    ['the caller’s cap', { max_tokens: 10 }, null, 10, 10, undefined],
    ['the larger of two', { max_tokens: 10, max_completion_tokens: 20 }, null, 20, 20, undefined],
    ['the caller’s for each answer', { max_tokens: 10, n: 5 }, null, 10, 50, undefined],
    ['the model’s', {}, 100, 100, 100, 'model'],
    ['the model’s where the caller wants more', { max_tokens: 5_000 }, 100, 100, 100, 'model'],
    ['4,096 where no limit is known', {}, null, 4_096, 4_096, 'default'],
  ])('a chat request’s output cap is %s', (_, more, modelMost, cap, all, why) => {
    const { outputCap, reason, tokens } = boundChat(request(more), modelOf(modelMost));
    expect([outputCap, tokens.outputTokens, reason]).toEqual([cap, all, why]);
  });

  it('a chat request’s token bound for any text is its number of bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(inputOf({}, text)).toBe(Buffer.byteLength(text));
      }),
    );
  });
});

describe('a bound that is shrunk', () => {
  it('a reduced output cap is the longest answer that the money buys at every source', () => {
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
          const less = shrinkBound(bound, asked, model.sources, {
            availableRaw: raw,
            reason: 'cap',
          });
          const costsAt = (outputCap: number) => {
            const tokens = { ...bound.tokens, outputTokens: outputCap * n };
            return all.map((each) => chatPriceRaw(tokens, each));
          };
          const fits = (cap: number) => costsAt(cap).every((cost) => cost <= raw);
          if (less === undefined) expect(fits(MODEL_LIMITS.tokens.leastOutput)).toBe(false);
          else {
            expect(fits(less.outputCap)).toBe(true);
            expect(less.outputCap === bound.outputCap || !fits(less.outputCap + 1)).toBe(true);
            expect(less.tokens.outputTokens).toBe(less.outputCap * n);
          }
        },
      ),
    );
  });

  it('a reduced output cap keeps a caller’s cap that is below the shortest useful answer', () => {
    const model = modelOf(null, [source(0n, 1_000_000n)]);
    const asked = request({ max_tokens: 2 });
    const room = { availableRaw: 10n, reason: 'balance' } as const;
    expect(shrinkBound(boundChat(asked, model), asked, model.sources, room)?.outputCap).toBe(2);
  });
});

describe('the cap that is sent', () => {
  it('the output cap that is sent uses the caller’s member, or max_tokens when the caller has none', () => {
    expect(withCap(request(), 7)).toMatchObject({ max_tokens: 7 });
    expect(withCap(request({ max_tokens: 9 }), 7)).toMatchObject({ max_tokens: 7 });
    const long = withCap(request({ max_completion_tokens: 9 }), 7);
    expect([long.max_completion_tokens, 'max_tokens' in long]).toEqual([7, false]);
    const both = withCap(request({ max_tokens: 8, max_completion_tokens: 9 }), 7);
    expect([both.max_completion_tokens, both.max_tokens]).toEqual([7, 7]);
  });
});
