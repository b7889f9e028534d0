import { isObject } from '../kernel/json.ts';
import { mcpErrors } from './errors.ts';
import { MCP_LIMITS } from './limits.ts';

/**
 * Returns the messages of a body that need an answer. In a batch only the requests stay: no session exists for its
 * notifications, and a notification that cancels a request of the same batch would leave the batch without an answer. Undefined
 * when no message is left. Throws the refusal of a batch that is too long or uses an id twice, and of an id that is too long.
 */
export function readMessages(body: unknown): unknown {
  if (!Array.isArray(body)) {
    checkId(body);
    return body;
  }
  const most = MCP_LIMITS.batch;
  if (body.length === 0 || body.length > most) {
    throw mcpErrors.invalidMessage(`A batch has 1 to ${most} messages.`);
  }
  const requests = body.filter((message) => !isNotification(message));
  const ids = new Set(requests.map((message) => (isObject(message) ? message.id : undefined)));
  if (ids.size < requests.length) {
    throw mcpErrors.invalidMessage('Each request of a batch has an id of its own.');
  }
  for (const message of requests) checkId(message);
  return requests.length === 0 ? undefined : requests;
}

const isNotification = (message: unknown): boolean =>
  isObject(message) && typeof message.method === 'string' && !('id' in message);

function checkId(message: unknown): void {
  const id = isObject(message) ? message.id : undefined;
  if (typeof id === 'string' && id.length > MCP_LIMITS.idChars) {
    throw mcpErrors.invalidMessage(`An id has at most ${MCP_LIMITS.idChars} characters.`);
  }
}
