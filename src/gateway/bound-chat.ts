import { isObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { TokenUsage } from '../rails/chat-rail.ts';
import type { Model } from './catalogue.ts';
import type { ChatRequest } from './chat-request.ts';
import { chatPriceRaw } from './chat-usage.ts';

/** The most that a request may come to, and what keeps its answer within that. */
export type ChatBound = {
  readonly tokens: TokenUsage;
  /** Tokens of one answer. */
  readonly outputCap: number;
};

/**
 * Bounds a request before anything of it is sent: a token for each byte of what it says, since none is shorter, and
 * for its output the caller's cap for each of the answers asked for, else the model's own.
 */
export function boundChat(request: ChatRequest, { maxOutputTokens }: Model): ChatBound {
  const asked = Math.max(request.max_tokens ?? 0, request.max_completion_tokens ?? 0);
  const most = maxOutputTokens ?? LIMITS.unknownOutputTokens;
  const outputCap = asked === 0 ? most : Math.min(asked, maxOutputTokens ?? asked);
  return capped(boundPrompt(request), outputCap, request);
}

/**
 * The same with a shorter answer, so that no source costs more than there is. Undefined where that would leave less
 * than an answer.
 */
export function shrinkBound(
  { tokens, outputCap }: ChatBound,
  request: ChatRequest,
  model: Model,
  availableRaw: bigint,
): ChatBound | undefined {
  const fits = (cap: number): boolean => {
    const bound = capped(tokens.inputTokens, cap, request).tokens;
    return model.sources.every((source) => chatPriceRaw(bound, source) <= availableRaw);
  };
  let least = Math.min(LIMITS.leastOutputTokens, outputCap);
  if (!fits(least)) return undefined;
  let most = outputCap;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  return capped(tokens.inputTokens, least, request);
}

/** The request as it is sent: its cap in the caller's own words, or in those that every upstream knows. */
export function withCap(request: ChatRequest, outputCap: number): ChatRequest {
  const { max_tokens: short, max_completion_tokens: long } = request;
  if (long !== undefined && long !== null) {
    const both = short === undefined || short === null ? {} : { max_tokens: outputCap };
    return { ...request, ...both, max_completion_tokens: outputCap };
  }
  return { ...request, max_tokens: outputCap };
}

const capped = (inputTokens: number, outputCap: number, { n }: ChatRequest): ChatBound => ({
  tokens: { inputTokens, cachedTokens: 0, outputTokens: outputCap * (n ?? 1) },
  outputCap,
});

function boundPrompt(request: ChatRequest): number {
  let tokens = request.messages.length * LIMITS.tokensPerMessage;
  for (const { content, role: _role, ...rest } of request.messages) {
    tokens += boundContent(content);
    for (const _ in rest) {
      tokens += jsonBytes(rest);
      break;
    }
  }
  if (request.tools !== undefined) tokens += jsonBytes(request.tools);
  return marksCache(request) ? tokens + Math.ceil((tokens * MOST_SURCHARGE) / 100) : tokens;
}

const MOST_SURCHARGE = LIMITS.cacheWriteSurcharge.hourPercent;

/** Whether the caller asks for any of the prompt to be kept in the upstream's cache. */
const marksCache = ({ messages, tools }: ChatRequest): boolean =>
  messages.some(({ content }) => hasMark(content)) || hasMark(tools);

const hasMark = (list: unknown): boolean =>
  Array.isArray(list) &&
  list.some((item) => isMarked(item) || (isObject(item) && isMarked(item.function)));

const isMarked = (item: unknown): boolean =>
  isObject(item) && item.cache_control !== undefined && item.cache_control !== null;

function boundContent(content: unknown): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  if (!Array.isArray(content)) return content === undefined ? 0 : jsonBytes(content);
  let tokens = 0;
  for (const part of content) {
    const isText = isObject(part) && typeof part.text === 'string';
    tokens += isText ? Buffer.byteLength(part.text as string) : LIMITS.tokensPerOpaquePart;
  }
  return tokens;
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
