import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../src/kernel/json.ts';
import { CountRequest } from '../../../../src/models/messages/messages-request.ts';
import { requirePricedMessages } from '../../../../src/models/messages/require-priced.ts';

const requireContent = (content: unknown) =>
  requirePricedMessages(CountRequest.parse({ model: 'm', messages: [{ role: 'user', content }] }));
const content = (...blocks: readonly Json[]) => ({
  type: 'document',
  source: { type: 'content', content: blocks },
});

describe('what is kept in the account that pays', () => {
  const file = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
  const page = { type: 'document', source: { type: 'url', url: 'https://x.example' } };
  const result = (...blocks: readonly Json[]) => ({ type: 'tool_result', content: blocks });

  it.each([
    [file],
    [page],
    [{ type: 'container_upload', file_id: 'file_1' }],
    [result(file)],
    [content(file)],
    [content({ type: 'text', text: 'x' }, page)],
    [result(content(file))],
    [content(content(result(file)))],
  ])('is refused wherever it stands: %j', (block) => {
    expect(() => requireContent([block])).toThrow(expect.objectContaining({ status: 400 }));
  });

  it('is not what the request has in itself', () => {
    const seen = { type: 'image', source: { type: 'url', url: 'https://x.example' } };
    requireContent('x');
    requireContent([content({ type: 'text', text: 'x' }, seen), result(seen)]);
    requireContent([{ type: 'document', source: { type: 'content', content: 'x' } }]);
  });
});
