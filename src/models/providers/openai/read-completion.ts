import { JSON_LIMITS } from '../../../kernel/json/limits.ts';
import { parseJsonInTurns } from '../../../kernel/json/parse-json-in-turns.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { cachedParts } from '../cached-parts.ts';
import type { Reported, TokenUsage } from '../chat-rail.ts';
import { tokenCount } from '../token-count.ts';
import { ANSWER_KEYS, PART_KEYS } from './answer-keys.ts';
import { readNote } from './read-note.ts';

/**
 * Reads the `usage` of an OpenAI completion. Null when it is missing or implausible. Some vendors leave reasoning tokens out of
 * `completion_tokens` and bill them in `total_tokens`, so the larger of the two counts. Cached tokens are read under OpenAI's
 * name, DeepSeek's `prompt_cache_hit_tokens` and Moonshot's `cached_tokens`; the prompt tokens include them.
 */
export function readUsage(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const inputTokens = tokenCount(usage.prompt_tokens);
  const written = tokenCount(usage.completion_tokens);
  if (inputTokens === undefined || written === undefined) return null;
  const total = tokenCount(usage.total_tokens) ?? 0;
  const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const served = Math.max(
    ...[details.cached_tokens, usage.prompt_cache_hit_tokens, usage.cached_tokens].map(
      (count) => tokenCount(count) ?? 0,
    ),
  );
  return {
    inputTokens,
    ...cachedParts(inputTokens, served, tokenCount(details.cache_write_tokens)),
    outputTokens: Math.max(written, total - inputTokens),
  };
}

/** Reads a 2xx body and its usage. Undefined when the body is no completion. */
export async function readCompletion(
  body: Buffer,
): Promise<(Reported & { readonly json: Json }) | undefined> {
  const parsed = await parseJsonInTurns(body, JSON_LIMITS.upstream).catch(() => undefined);
  if (!isObject(parsed) || !Array.isArray(parsed.choices)) return undefined;
  const usage = readUsage(parsed.usage);
  const note = readNote(parsed);
  const answerChars = usage === null ? answerLength(parsed.choices) : 0;
  return { json: parsed, usage, answerChars, note: () => note };
}

function answerLength(choices: readonly unknown[]): number {
  let chars = 0;
  for (const choice of choices) {
    const message = isObject(choice) ? choice.message : undefined;
    if (!isObject(message)) continue;
    for (const key of ANSWER_KEYS) chars += writtenLength(message[key]);
    if (message.tool_calls !== undefined) chars += JSON.stringify(message.tool_calls).length;
  }
  return chars;
}

/** Returns the length of a string, of an object as JSON, or of the texts in a list of parts, by the same rules as `ChatTap`. */
function writtenLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return partsLength(value);
  return isObject(value) ? JSON.stringify(value).length : 0;
}

const PARTS: ReadonlySet<string> = new Set(PART_KEYS);

function partsLength(part: unknown): number {
  if (!isObject(part)) return 0;
  let chars = 0;
  for (const [key, value] of Object.entries(part)) {
    chars += PARTS.has(key) && !Array.isArray(value) ? writtenLength(value) : partsLength(value);
  }
  return chars;
}
