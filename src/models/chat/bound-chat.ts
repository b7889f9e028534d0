import { copyDigits } from '../../kernel/json/digits.ts';
import { isObject } from '../../kernel/json.ts';
import { largestFitting, type Room } from '../../ledger/rules/hold-what-fits.ts';
import type { Model, Source } from '../catalogue/catalogue.ts';
import { MODEL_LIMITS } from '../limits.ts';
import type { TokenUsage } from '../providers/chat-rail.ts';
import type { CapReason } from '../purchase/product.ts';
import { readPart } from './chat-part.ts';
import { chatPriceRaw } from './chat-price.ts';
import type { ChatRequest } from './chat-request.ts';
import { estimatePrompt } from './estimate-chat.ts';

/** Upper bound of the tokens of a request, and the cap that keeps its answer within the bound. */
export type ChatBound = {
  readonly tokens: TokenUsage;
  /** Cap of the tokens of one answer. */
  readonly outputCap: number;
  /** Reason of the cap. Undefined when the caller's own cap applies. */
  readonly reason: CapReason | undefined;
};

/**
 * Returns the upper bound of a request's tokens before it is sent: one input token for each byte, since no token is shorter,
 * and for the output the caller's cap for each answer, else the model's. When an answer may fill the model's window, its bound
 * is the window less the prompt. This server marks prompts of `markedFrom` tokens or more for a cache.
 */
export function boundChat(request: ChatRequest, model: Model, markedFrom?: number): ChatBound {
  const asked = Math.max(request.max_tokens ?? 0, request.max_completion_tokens ?? 0);
  const inputTokens = withCacheWrites(
    boundPrompt(request, mostPerImage(model)),
    request,
    markedFrom,
  );
  const bound = (outputCap: number, reason?: CapReason) =>
    capped(inputTokens, { outputCap, reason }, request);
  if (asked === 0) {
    const most = mostOutput(request, model);
    return most === null
      ? bound(MODEL_LIMITS.tokens.unknownOutput, 'default')
      : bound(most, 'model');
  }
  const { maxOutputTokens: most } = model;
  return most !== null && asked > most ? bound(most, 'model') : bound(asked);
}

/**
 * Returns the longest answer that the vendor accepts for a request: vendors refuse prompt and answer that together exceed the
 * window. Null when the catalogue knows no window and no limit.
 */
function mostOutput(
  request: ChatRequest,
  { contextWindow, maxOutputTokens }: Model,
): number | null {
  if (contextWindow === null) return maxOutputTokens;
  const promptTokens = Math.ceil(
    (estimatePrompt(request) * MODEL_LIMITS.tokens.promptReservePercent) / 100,
  );
  const left = Math.max(MODEL_LIMITS.tokens.unknownOutput, contextWindow - promptTokens);
  return Math.min(left, maxOutputTokens ?? left);
}

/**
 * Returns the bound with a shorter answer, such that no source costs more than the balance or a cap leaves. Undefined when even
 * `leastOutputTokens` would cost more.
 */
export function shrinkBound(
  { tokens, outputCap }: ChatBound,
  request: ChatRequest,
  sources: readonly Source[],
  { availableRaw, reason }: Room,
  leastOutputTokens: number = MODEL_LIMITS.tokens.leastOutput,
): ChatBound | undefined {
  const least = Math.min(leastOutputTokens, outputCap);
  const fitting = largestFitting({ least, most: outputCap }, (cap) => {
    const bound = capped(tokens.inputTokens, { outputCap: cap, reason }, request).tokens;
    return sources.every((source) => chatPriceRaw(bound, source) <= availableRaw);
  });
  return fitting === undefined
    ? undefined
    : capped(tokens.inputTokens, { outputCap: fitting, reason }, request);
}

/** Returns the bound of a chat with the shortest useful answer. */
export function leastBound(
  { tokens, outputCap }: ChatBound,
  request: ChatRequest,
  leastOutputTokens: number = MODEL_LIMITS.tokens.leastOutput,
): ChatBound {
  const least = Math.min(leastOutputTokens, outputCap);
  return capped(tokens.inputTokens, { outputCap: least, reason: 'cap' }, request);
}

/**
 * Returns the request with the cap set, under the caller's own member or else under `max_tokens`, which every upstream knows.
 */
export const withCap = (request: ChatRequest, outputCap: number): ChatRequest =>
  copyDigits(request, capOf(request, outputCap));

function capOf(request: ChatRequest, outputCap: number): ChatRequest {
  const { max_tokens: short, max_completion_tokens: long } = request;
  if (long !== undefined && long !== null) {
    const both = short === undefined || short === null ? {} : { max_tokens: outputCap };
    return { ...request, ...both, max_completion_tokens: outputCap };
  }
  if (short !== undefined) return { ...request, max_tokens: outputCap };
  // A copy that begins with its own member shares one hidden class with all other copies (0075).
  const sent = { max_tokens: outputCap, ...request };
  sent.max_tokens = outputCap;
  return sent;
}

const capped = (
  inputTokens: number,
  { outputCap, reason }: Pick<ChatBound, 'outputCap' | 'reason'>,
  { n, prediction }: ChatRequest,
): ChatBound => ({
  // A vendor that caches prompts by itself may write the whole prompt.
  tokens: {
    inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: inputTokens,
    // Predicted tokens that the answer does not use are billed as output.
    outputTokens: (outputCap + predictedTokens(prediction)) * (n ?? 1),
  },
  outputCap,
  reason,
});

const predictedTokens = (prediction: unknown): number =>
  isObject(prediction) ? jsonBytes(prediction.content) : 0;

/** Members, beside the messages, that vendors write into the prompt. */
const PROMPTED = ['tools', 'functions', 'response_format'] as const;

function boundPrompt(request: ChatRequest, perImage: number): number {
  let tokens = request.messages.length * MODEL_LIMITS.tokens.perMessage;
  for (const message of request.messages) {
    tokens += boundContent(message.content, perImage);
    if (!hasMore(message)) continue;
    const { content: _content, role: _role, ...rest } = message;
    tokens += jsonBytes(rest);
  }
  for (const member of PROMPTED) {
    const value = request[member];
    if (value !== undefined) tokens += jsonBytes(value) + MODEL_LIMITS.tokens.ofPreamble;
  }
  return tokens;
}

/** Returns true when a message has members beside `role` and `content`. */
function hasMore(message: ChatRequest['messages'][number]): boolean {
  for (const member in message) if (member !== 'content' && member !== 'role') return true;
  return false;
}

/** Adds the upper bound of the surcharge for cache writes, as if all tokens had the caller's mark or the server's. */
function withCacheWrites(tokens: number, request: ChatRequest, markedFrom = Infinity): number {
  const { hourPercent, shortPercent } = MODEL_LIMITS.tokens.cacheWriteSurcharge;
  const byServer = tokens >= markedFrom ? shortPercent : 0;
  const percent = marksCache(request) ? hourPercent : byServer;
  return tokens + Math.ceil((tokens * percent) / 100);
}

const mostPerImage = ({ sources }: Model): number =>
  Math.max(
    MODEL_LIMITS.tokens.perImage,
    ...sources.map(({ imageTokens }) => imageTokens ?? MODEL_LIMITS.tokens.perImage),
  );

/** Returns true when the caller marks a part of the prompt to be kept in the upstream's cache. */
const marksCache = ({ messages, tools }: ChatRequest): boolean =>
  messages.some(({ content }) => hasMark(content)) || hasMark(tools);

const hasMark = (list: unknown): boolean =>
  Array.isArray(list) &&
  list.some((item) => isMarked(item) || (isObject(item) && isMarked(item.function)));

const isMarked = (item: unknown): boolean =>
  isObject(item) && item.cache_control !== undefined && item.cache_control !== null;

function boundContent(content: unknown, perImage: number): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  if (!Array.isArray(content)) return content === undefined ? 0 : jsonBytes(content);
  let tokens = 0;
  for (const part of content) tokens += boundPart(part, perImage);
  return tokens;
}

/**
 * Returns an upper bound of a part's tokens, counting all its members. Content that is named only by an address counts as an
 * image.
 */
function boundPart(part: unknown, perImage: number): number {
  if (!isObject(part)) return jsonBytes(part);
  const { audio, file, image, isUnknown, text } = readPart(part);
  if (isUnknown) return perImage + jsonBytes(part);
  let tokens = text === undefined ? 0 : Buffer.byteLength(text);
  if (image !== undefined) tokens += perImage;
  if (isObject(audio) && typeof audio.data === 'string') {
    tokens +=
      MODEL_LIMITS.tokens.perImage +
      Math.ceil(audio.data.length / MODEL_LIMITS.tokens.soundBytesEach);
  } else if (audio !== undefined) tokens += perImage + jsonBytes(audio);
  if (isObject(file) && typeof file.file_data === 'string') {
    tokens += perImage + file.file_data.length;
  } else if (file !== undefined) tokens += perImage + jsonBytes(file);
  return tokens;
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');
