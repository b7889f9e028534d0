import { isObject, type Json } from '../../../kernel/json.ts';
import { contentText } from '../../chat/read-answer.ts';
import { readUsage } from '../../providers/openai/read-completion.ts';
import { responseUsage } from '../../providers/responses/response-usage.ts';
import { tokenCount } from '../../providers/token-count.ts';
import type { ResponseWriter } from './response-writer.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The first choice of a chunk or a completion: no other is asked for. */
export function firstChoice({ choices }: Json): Json | undefined {
  const found = listOf(choices).find((choice) => isObject(choice) && !(Number(choice.index) > 0));
  return isObject(found) ? found : undefined;
}

/**
 * Writes what a message says, or what a piece of one adds: thoughts first, then words, then calls, which is the order in
 * which chat models make them.
 */
export function writeMessage(writer: ResponseWriter, message: Json, logprobs?: unknown): void {
  // Vendors have two names for it, some of them both at once.
  writer.think(textOf(message.reasoning_content) || textOf(message.reasoning));
  writer.say(contentText(message.content), isObject(logprobs) ? listOf(logprobs.content) : []);
  writer.refuse(textOf(message.refusal));
  writer.call(message.tool_calls);
}

/** The usage of a chat in the words of a response; undefined where there is none, or it makes no sense. */
export function translateUsage(usage: unknown): Json | undefined {
  const tokens = readUsage(usage);
  if (tokens === null || !isObject(usage)) return undefined;
  const { completion_tokens_details: details } = usage;
  const thought = isObject(details) ? tokenCount(details.reasoning_tokens) : undefined;
  return responseUsage(tokens, thought);
}
