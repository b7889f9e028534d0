import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import type { Breakpoints } from '../chat-rail.ts';

const MARK = { cache_control: { type: 'ephemeral' } };

/** Types of blocks that may carry a cache mark. Thoughts may not. */
const MARKABLE: ReadonlySet<unknown> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_use',
  'tool_result',
]);

/**
 * Number of the user's messages to mark, counted from the end: the last for the next request, the one before for this request.
 */
const MARKED_MESSAGES = 2;

/**
 * Adds `cache_control` to the parts of a Messages request that later requests will repeat, so that the upstream caches them for
 * some minutes: the tools, the instructions and, after the first answer, the last two messages of the user (the dialect allows
 * four marks). Returns a request unchanged when the caller has set a mark, and leaves out prefixes that are too short for the
 * model's cache.
 */
export function placeBreakpoints<R extends Json>(
  request: R,
  breakpoints: Breakpoints | undefined,
): R {
  if (breakpoints === undefined || isMarked(request)) return request;
  const prefix = new Prefix(breakpoints.leastTokens * MODEL_LIMITS.tokens.charsEach);
  const { messages, system, tools } = request;
  // Tools, instructions, messages: the order in which the dialect reads a prompt.
  const written = tools === undefined ? '' : JSON.stringify(tools);
  const toolsMarked = prefix.reachesWith(written) ? markLast(tools, isMarkableTool) : undefined;
  const systemMarked = prefix.reachesWith(system) ? markLast(system, isMarkable) : undefined;
  const messagesMarked = Array.isArray(messages) ? markMessages(messages, prefix) : undefined;
  return {
    ...request,
    ...(toolsMarked && { tools: toolsMarked }),
    ...(systemMarked && { system: systemMarked }),
    ...(messagesMarked && { messages: messagesMarked }),
  };
}

function markMessages(messages: readonly unknown[], prefix: Prefix): unknown[] | undefined {
  const isAnswered = messages.some((message) => isObject(message) && message.role === 'assistant');
  if (!isAnswered) return undefined;
  const ofUser = messages.flatMap((message, at) =>
    isObject(message) && message.role === 'user' ? [at] : [],
  );
  const repeated = new Set(ofUser.slice(-MARKED_MESSAGES));
  return messages.map((message, at) => {
    const content = isObject(message) ? message.content : undefined;
    if (!prefix.reachesWith(content) || !repeated.has(at)) return message;
    const marked = markLast(content, isMarkable);
    return isObject(message) && marked ? { ...message, content: marked } : message;
  });
}

/**
 * Marks the last item of a list that may carry a mark; a text becomes a list of one block. Undefined when no item may carry a
 * mark.
 */
function markLast(
  content: unknown,
  mayBeMarked: (item: unknown) => boolean,
): unknown[] | undefined {
  const items = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (!Array.isArray(items)) return undefined;
  const last = items.findLastIndex(mayBeMarked);
  if (last === -1) return undefined;
  return (items as Json[]).map((item, at) => (at === last ? { ...item, ...MARK } : item));
}

const isMarkable = (block: unknown): boolean =>
  isObject(block) &&
  MARKABLE.has(block.type) &&
  (block.type !== 'text' || (typeof block.text === 'string' && block.text.trim() !== ''));

/** Returns true for a tool that may carry a cache mark. A tool that is loaded later is no part of the prefix. */
const isMarkableTool = (tool: unknown): boolean => isObject(tool) && tool.defer_loading !== true;

/** Returns true when the caller has set a mark: on the request, a tool, a block or a nested block. */
function isMarked(request: Json): boolean {
  const { messages, system, tools } = request;
  if (hasMark(request) || listHasMark(tools) || listHasMark(system)) return true;
  return (
    Array.isArray(messages) && messages.some((turn) => isObject(turn) && listHasMark(turn.content))
  );
}

const hasMark = ({ cache_control: mark }: Json): boolean => mark !== undefined && mark !== null;

const listHasMark = (items: unknown): boolean =>
  Array.isArray(items) &&
  items.some(
    (item) =>
      isObject(item) &&
      (hasMark(item) ||
        listHasMark(item.content) ||
        (isObject(item.source) && listHasMark(item.source.content))),
  );

const OPAQUE_CHARS = MODEL_LIMITS.tokens.perOpaquePart * MODEL_LIMITS.tokens.charsEach;

/** Counts the characters of a prompt until the prompt is long enough for the cache. */
class Prefix {
  #missingChars: number;

  constructor(leastChars: number) {
    this.#missingChars = leastChars;
  }

  /** Counts a further part of the prompt. Returns true when the prompt is long enough for the cache. */
  reachesWith(part: unknown): boolean {
    this.#count(part);
    return this.#missingChars <= 0;
  }

  #count(part: unknown): void {
    if (this.#missingChars <= 0) return;
    if (typeof part === 'string') this.#missingChars -= part.length;
    else if (Array.isArray(part)) for (const item of part) this.#count(item);
    else if (isObject(part)) {
      // Images and files are base64: their length does not show their tokens.
      if (isObject(part.source)) this.#missingChars -= OPAQUE_CHARS;
      else for (const member of Object.values(part)) this.#count(member);
    }
  }
}
