import { isObject, type Json } from '../../../kernel/json.ts';
import { textMember } from '../../providers/anthropic/read-json.ts';
import { finishReasonOf } from './finish-reason.ts';

/** Separator between two messages of one response, in the text of a chat completion. */
export const BETWEEN_MESSAGES = '\n\n';

/** Translates a whole response to a chat completion with the same content and calls. */
export function completionOfResponse(response: Json): Json {
  const texts: string[] = [];
  const refusals: string[] = [];
  const thoughts: string[] = [];
  const calls: Json[] = [];
  for (const item of objectsOf(response.output)) {
    const { arguments: text, call_id: id, name, type } = item;
    if (type === 'function_call') calls.push({ id, function: { name, arguments: text } });
    if (type === 'reasoning') thoughts.push(thoughtsOf(item));
    if (type !== 'message') continue;
    const parts = objectsOf(item.content);
    texts.push(parts.map((part) => textMember(part, 'text')).join(''));
    refusals.push(parts.map((part) => textMember(part, 'refusal')).join(''));
  }
  const message = {
    content: joined(texts),
    refusal: joined(refusals),
    reasoning_content: joined(thoughts),
    tool_calls: calls,
  };
  const { id, model } = response;
  return { id, model, choices: [{ message, finish_reason: finishReasonOf(response) }] };
}

const thoughtsOf = ({ content, summary }: Json): string =>
  joined([...objectsOf(summary), ...objectsOf(content)].map((part) => textMember(part, 'text')));

const joined = (texts: readonly string[]): string =>
  texts.filter((text) => text !== '').join(BETWEEN_MESSAGES);

const objectsOf = (list: unknown): readonly Json[] =>
  Array.isArray(list) ? (list as unknown[]).filter(isObject) : [];
