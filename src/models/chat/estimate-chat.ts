import { isObject } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../limits.ts';
import { opaqueMembers, readPart } from './chat-part.ts';
import type { ChatRequest } from './chat-request.ts';

/** Estimates the tokens of a text of `chars` characters, for upstreams that report no usage. */
export const tokensOf = (chars: number): number => Math.ceil(chars / MODEL_LIMITS.tokens.charsEach);

/** Estimates the prompt tokens of a request, including tool definitions, earlier tool calls and earlier reasoning. */
export function estimatePrompt(request: ChatRequest): number {
  let chars = 0;
  let opaqueParts = 0;
  const addPart = (part: unknown) => {
    if (!isObject(part)) {
      opaqueParts++;
      return;
    }
    const read = readPart(part);
    chars += read.text?.length ?? 0;
    opaqueParts += read.isUnknown ? 1 : opaqueMembers(read);
  };
  for (const { content, reasoning_content: thoughts, tool_calls: toolCalls } of request.messages) {
    if (typeof content === 'string') chars += content.length;
    else if (Array.isArray(content)) content.forEach(addPart);
    if (typeof thoughts === 'string') chars += thoughts.length;
    if (toolCalls !== undefined) chars += jsonLength(toolCalls);
  }
  if (request.tools !== undefined) chars += jsonLength(request.tools);
  return tokensOf(chars) + opaqueParts * MODEL_LIMITS.tokens.perOpaquePart;
}

const jsonLength = (value: unknown): number => JSON.stringify(value).length;
