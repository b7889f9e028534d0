import { isObject } from '../../kernel/json.ts';
import { withOwnId } from '../chat/own-call-ids.ts';
import { mayCarry } from '../chat/signed-call.ts';
import type { CountRequest } from './messages-request.ts';

/** Returns the request with the upstreams' own ids of calls. Signatures that the ids carried for other vendors are removed. */
export function withOwnToolIds<R extends CountRequest>(request: R): R {
  const { messages } = request;
  if (!messages.some(({ content }) => hasCarried(content))) return request;
  const own = messages.map((message) => {
    const { content, role } = message;
    return hasCarried(content)
      ? Object.assign({ role }, message, { content: content.map(ownBlock) })
      : message;
  });
  return Object.assign({ messages: own }, request, { messages: own });
}

const hasCarried = (content: unknown): content is readonly unknown[] =>
  Array.isArray(content) &&
  content.some((block) => isObject(block) && (mayCarry(block.id) || mayCarry(block.tool_use_id)));

const ownBlock = (block: unknown): unknown =>
  isObject(block) ? withOwnId(withOwnId(block, 'id'), 'tool_use_id') : block;
