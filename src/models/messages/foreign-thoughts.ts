import { copyDigits } from '../../kernel/json/digits.ts';
import { isObject } from '../../kernel/json.ts';
import type { CountRequest } from './messages-request.ts';

/**
 * Returns the request without thoughts of models that sign none. This server wrote them when it translated an answer of another
 * dialect, and the vendor would refuse them.
 */
export function withoutForeignThoughts<R extends CountRequest>(request: R): R {
  const { messages } = request;
  if (!messages.some(({ content }) => hasForeign(content))) return request;
  const kept = messages.flatMap((message) => {
    const { content } = message;
    if (!hasForeign(content)) return [message];
    const own = content.filter((block) => !isForeign(block));
    return own.length > 0 ? [{ ...message, content: own }] : [];
  });
  return copyDigits(request, { ...request, messages: kept });
}

const hasForeign = (content: unknown): content is readonly unknown[] =>
  Array.isArray(content) && content.some(isForeign);

const isForeign = (block: unknown): boolean =>
  isObject(block) && block.type === 'thinking' && block.signature === '';
