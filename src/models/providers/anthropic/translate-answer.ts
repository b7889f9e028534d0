import { writeDigits } from '../../../kernel/json/digits.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import type { TokenUsage } from '../chat-rail.ts';
import { completionUsage, readMessageUsage } from './message-usage.ts';
import { jsonOf, member, textMember } from './read-json.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

const FINISH_REASONS: ReadonlyMap<unknown, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);

/** Returns the finish reason of chat for a stop reason. Unknown stop reasons count as `stop`. */
export const finishReasonOf = (stopReason: unknown): FinishReason =>
  FINISH_REASONS.get(stopReason) ?? 'stop';

type Translated = {
  readonly completion: Json;
  /** Usage that the upstream reports. Null when the upstream reported none. */
  readonly usage: TokenUsage | null;
  /** Characters that the model wrote, including its reasoning. */
  readonly answerChars: number;
};

/** Translates a message to an OpenAI completion. Undefined when the value is no message or not a whole one. */
export function translateAnswer(message: unknown, createdSec: number): Translated | undefined {
  if (!isObject(message) || !Array.isArray(message.content)) return undefined;
  const said = readContent(message.content);
  if (said === undefined) return undefined;
  const { text, toolCalls, answerChars } = said;
  const usage = readMessageUsage(message.usage);
  const completion = {
    id: textMember(message, 'id'),
    object: 'chat.completion',
    created: createdSec,
    model: textMember(message, 'model'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && toolCalls.length > 0 ? null : text,
          refusal: null,
          ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
        },
        logprobs: null,
        finish_reason: finishReasonOf(message.stop_reason),
      },
    ],
    ...(usage !== null && { usage: completionUsage(usage) }),
  };
  return { completion, usage, answerChars };
}

/**
 * Reads the text and tool calls of content blocks. Blocks without a counterpart in chat, such as thoughts, are only counted.
 */
function readContent(blocks: readonly unknown[]) {
  let text = '';
  let answerChars = 0;
  const toolCalls: Json[] = [];
  for (const block of blocks) {
    if (!isObject(block)) return undefined;
    if (block.type === 'text' && typeof block.text === 'string') text += block.text;
    if (typeof block.thinking === 'string') answerChars += block.thinking.length;
    if (block.type !== 'tool_use') continue;
    const { id, name } = block;
    const input = writeArguments(block.input);
    if (typeof id !== 'string' || typeof name !== 'string' || input === undefined) return undefined;
    toolCalls.push({ id, type: 'function', function: { name, arguments: input } });
    answerChars += name.length + input.length;
  }
  return { text, toolCalls, answerChars: answerChars + text.length };
}

/** Returns the JSON text of a tool's arguments. Undefined when they are nested too deeply to be written. */
export function writeArguments(input: unknown): string | undefined {
  try {
    return writeDigits(input ?? {});
  } catch {
    return undefined;
  }
}

/** Translates an error body into OpenAI's error object. A body that is no error of the dialect is not quoted. */
export function translateError(body: Buffer, status: number): Json {
  const parsed = jsonOf(body);
  const error = isObject(parsed) ? member(parsed, 'error') : {};
  return {
    error: {
      message: textMember(error, 'message') || `The provider answered ${status}.`,
      type: textMember(error, 'type') || 'upstream_error',
      param: null,
      code: null,
    },
  };
}
