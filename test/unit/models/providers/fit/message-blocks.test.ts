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
  it('is the very same where nothing of it would be refused', () => {
    const request = {
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [text('So'), use('toolu_1')] },
        { role: 'user', content: [result('toolu_1', [image('image/jpeg')])] },
      ],
    };
    expect(withFittingBlocks(request)).toBe(request);
  });

  it('has the ids of calls that the vendor takes', () => {
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

  it('has no blank texts, and no turn of blank texts alone', () => {
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

  it('has images under the types that their first bytes show, also within results of tools', () => {
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
