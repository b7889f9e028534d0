import { isObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { TokenUsage } from '../rails/chat-rail.ts';
import type { ChatRequest } from './chat-request.ts';

/** Tokens that a text of so many characters is taken for where nobody has counted them. */
export const tokensOf = (chars: number): number => Math.ceil(chars / LIMITS.charsPerToken);

/**
 * The most that a request should use: its prompt by a rule of thumb (a tokenizer would hold the event
 * loop on a long one), its output by the cap the caller set, for each of the `n` answers asked for.
 */
export function estimateChat(request: ChatRequest, maxOutputTokens: number | null): TokenUsage {
  const asked = Math.max(request.max_tokens ?? 0, request.max_completion_tokens ?? 0);
  const cap = asked === 0 ? LIMITS.defaultOutputTokens : asked;
  return {
    inputTokens: estimatePrompt(request),
    cachedTokens: 0,
    outputTokens: Math.min(cap, maxOutputTokens ?? cap) * (request.n ?? 1),
  };
}

/** Prompt tokens of a request, tool definitions and earlier tool calls included. */
export function estimatePrompt(request: ChatRequest): number {
  let chars = 0;
  let opaqueParts = 0;
  const addPart = (part: unknown) => {
    if (isObject(part) && typeof part.text === 'string') chars += part.text.length;
    else opaqueParts++;
  };
  for (const { content, tool_calls: toolCalls } of request.messages) {
    if (typeof content === 'string') chars += content.length;
    else if (Array.isArray(content)) content.forEach(addPart);
    if (toolCalls !== undefined) chars += jsonLength(toolCalls);
  }
  if (request.tools !== undefined) chars += jsonLength(request.tools);
  return tokensOf(chars) + opaqueParts * LIMITS.tokensPerOpaquePart;
}

const jsonLength = (value: unknown): number => JSON.stringify(value).length;
