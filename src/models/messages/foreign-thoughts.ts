import { isObject } from '../../kernel/json.ts';
import type { CountRequest } from './messages-request.ts';

/**
 * The request without the thoughts of models that sign none: this server has written them itself, from an answer in another
 * dialect, and the vendor would refuse them.
 */
export function withoutForeignThoughts<R extends CountRequest>(request: R): R {
  const { messages } = request;
  if (!messages.some(({ content }) => hasForeign(content))) return request;
  const kept = messages.map((message) => {
    const { content } = message;
    return hasForeign(content)
      ? { ...message, content: content.filter((block) => !isForeign(block)) }
      : message;
  });
  return { ...request, messages: kept.filter(({ content }) => content.length > 0) };
}

const hasForeign = (content: unknown): content is readonly unknown[] =>
  Array.isArray(content) && content.some(isForeign);

const isForeign = (block: unknown): boolean =>
  isObject(block) && block.type === 'thinking' && block.signature === '';
