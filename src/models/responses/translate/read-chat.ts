import { isObject, type Json } from '../../../kernel/json.ts';
import { contentText } from '../../chat/read-answer.ts';
import { readUsage } from '../../providers/openai/read-completion.ts';
import { responseUsage } from '../../providers/responses/response-usage.ts';
import { tokenCount } from '../../providers/token-count.ts';
import type { ResponseWriter } from './response-writer.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the first choice of a chunk or a completion. The request asks for only one. */
export function firstChoice({ choices }: Json): Json | undefined {
  const found = listOf(choices).find((choice) => isObject(choice) && !(Number(choice.index) > 0));
  return isObject(found) ? found : undefined;
}

/**
 * Writes the content of a message or of a delta: first thoughts, then text, then calls, the order in which chat models produce
 * them.
 */
export function writeMessage(writer: ResponseWriter, message: Json, logprobs?: unknown): void {
  // Vendors have two names for thoughts, and some send both at once.
  writer.think(textOf(message.reasoning_content) || textOf(message.reasoning));
  writer.say(contentText(message.content), isObject(logprobs) ? listOf(logprobs.content) : []);
  writer.refuse(textOf(message.refusal));
  writer.call(message.tool_calls);
}

/** Translates the usage of a chat to that of a response. Undefined when it is missing or not plausible. */
export function translateUsage(usage: unknown): Json | undefined {
  const tokens = readUsage(usage);
  if (tokens === null || !isObject(usage)) return undefined;
  const { completion_tokens_details: details } = usage;
  const thought = isObject(details) ? tokenCount(details.reasoning_tokens) : undefined;
  return responseUsage(tokens, thought);
}
