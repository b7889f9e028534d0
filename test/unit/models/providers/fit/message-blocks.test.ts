import { describe, expect, it } from 'vitest';
import { withFittingBlocks } from '../../../../../src/models/providers/fit/message-blocks.ts';

const text = (words: string) => ({ type: 'text', text: words });
const image = (media_type: string) => ({
  type: 'image',
  source: { type: 'base64', media_type, data: '/9j/4AAQSkZJRgABAQAAAQABAAD' },
});
const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string, content: unknown = 'x') => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
});

describe('a Messages request that is relayed', () => {
  it('a relayed Messages request that the vendor accepts is passed on as the same object', () => {
    const request = {
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [text('So'), use('toolu_1')] },
        { role: 'user', content: [result('toolu_1', [image('image/jpeg')])] },
      ],
    };
    expect(withFittingBlocks(request)).toBe(request);
  });

  it('a relayed Messages request gets tool call ids that the vendor accepts', () => {
    const { messages } = withFittingBlocks({
      messages: [
        { role: 'assistant', content: [use('functions.Bash:0')] },
        { role: 'user', content: [result('functions.Bash:0')] },
      ],
    });
    const [made] = (messages[0]?.content as readonly { readonly id: string }[]) ?? [];
    expect(made?.id).toMatch(/^call_[0-9a-f]{24}$/);
    expect(messages[1]?.content).toEqual([result(made?.id ?? '')]);
  });

  it('a relayed Messages request loses blank texts, and turns of blank texts alone', () => {
    const { messages } = withFittingBlocks({
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [text('\n\n')] },
        { role: 'user', content: [text(' '), text('So?')] },
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: 'Hello' },
      { role: 'user', content: [text('So?')] },
    ]);
  });

  it('a relayed Messages request has images with the media type of their first bytes, also in tool results', () => {
    const { messages } = withFittingBlocks({
      messages: [
        { role: 'user', content: [image('image/png'), result('a', [image('image/png')])] },
      ],
    });
    expect(messages).toEqual([
      { role: 'user', content: [image('image/jpeg'), result('a', [image('image/jpeg')])] },
    ]);
  });
});
