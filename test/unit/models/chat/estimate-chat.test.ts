import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChatRequest } from '../../../../src/models/chat/chat-request.ts';
import { estimatePrompt } from '../../../../src/models/chat/estimate-chat.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';

const request = (more: object = {}, content: unknown = 'x'.repeat(401)): ChatRequest =>
  ChatRequest.parse({ model: 'a/b', messages: [{ role: 'user', content }], ...more });

describe('the estimate of a chat request', () => {
  it('a prompt estimate is one token per four characters of text, rounded up once', () => {
    expect(estimatePrompt(request())).toBe(101);
    const parts = [
      { type: 'text', text: 'x'.repeat(3) },
      { type: 'text', text: 'x'.repeat(2) },
    ];
    expect(estimatePrompt(request({}, parts))).toBe(2);
    expect(estimatePrompt(request({}, null))).toBe(0);
  });

  it('a prompt estimate counts images, files and tool definitions', () => {
    const image = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }];
    expect(estimatePrompt(request({}, image))).toBe(MODEL_LIMITS.tokens.perOpaquePart);
    const [part] = image;
    const beside = { ...part, type: 'text', text: 'x'.repeat(8), file: { file_id: 'f' } };
    expect(estimatePrompt(request({}, [beside]))).toBe(2 + 2 * MODEL_LIMITS.tokens.perOpaquePart);
    const film = { type: 'video_url', text: '', video_url: {} };
    expect(estimatePrompt(request({}, [film, 7]))).toBe(2 * MODEL_LIMITS.tokens.perOpaquePart);
    const tools = [{ type: 'function', function: { name: 'f'.repeat(100) } }];
    expect(estimatePrompt(request({ tools }, ''))).toBeGreaterThanOrEqual(25);
  });

  it('a prompt estimate counts the thoughts that an upstream is given back', () => {
    const thought = { role: 'assistant', content: 'x', reasoning_content: 'x'.repeat(399) };
    expect(estimatePrompt(request({ messages: [thought] }))).toBe(100);
  });

  it('a chat request with an unusable output cap is refused', () => {
    for (const max of [0, -1, 1.5, '10', MODEL_LIMITS.tokens.mostOutput + 1]) {
      expect(ChatRequest.safeParse({ ...request(), max_tokens: max }).success).toBe(false);
    }
  });
});

describe('a chat request', () => {
  const readBack = (sent: object): unknown => {
    const received: unknown = JSON.parse(JSON.stringify(sent));
    return JSON.parse(JSON.stringify(ChatRequest.parse(received)));
  };

  it('a chat request keeps all its members', () => {
    // `__proto__` is the one name that a loose object leaves out: the example below says so.
    const name = fc.string().filter((it) => it !== '__proto__');
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), (more) => {
        const { max_tokens: _t, max_completion_tokens: _c, n: _n, stream: _s, ...extra } = more;
        const sent = {
          ...extra,
          model: 'a/b',
          messages: [{ role: 'user', content: 'hi', name: 'x', odd: extra }],
        };
        expect(readBack(sent)).toEqual(JSON.parse(JSON.stringify(sent)));
      }),
    );
  });

  it('a chat request drops a member named __proto__', () => {
    const text = '{"__proto__":{"n":9},"model":"a/b","messages":[{"role":"user","content":"hi"}]}';
    const parsed = ChatRequest.parse(JSON.parse(text));
    expect(Object.hasOwn(parsed, '__proto__')).toBe(false);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(parsed.n).toBeUndefined();
  });
});
