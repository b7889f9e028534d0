import { copyDigits } from '../../../kernel/json/digits.ts';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { RESPONSES_LIMITS } from '../../responses/limits.ts';

/**
 * Returns a translated chat whose calls have JSON objects as arguments. Text that is no JSON object (broken, or cut off by a
 * cap) is put under `INVALID_JSON`, the member that Anthropic names, because vendors refuse it. Returns the same object if all
 * arguments fit.
 */
export function withObjectArguments<C extends { readonly messages: readonly Json[] }>(chat: C): C {
  const { messages } = chat;
  if (!messages.some(({ tool_calls: calls }) => hasOdd(calls))) return chat;
  const fitting = messages.map((message) => {
    const { role, tool_calls: calls } = message;
    return hasOdd(calls)
      ? Object.assign({ role }, message, { tool_calls: calls.map(fittingCall) })
      : message;
  });
  return copyDigits(chat, Object.assign({ messages: fitting }, chat, { messages: fitting }));
}

const hasOdd = (calls: unknown): calls is readonly unknown[] =>
  Array.isArray(calls) && calls.some((call) => textOf(call) !== undefined);

/** Returns the arguments of a call if they are not a JSON object; undefined otherwise. */
function textOf(call: unknown): string | undefined {
  const called = isObject(call) && isObject(call.function) ? call.function : undefined;
  const text = called?.arguments;
  if (typeof text !== 'string') return undefined;
  const told = tryParseJson(text, RESPONSES_LIMITS.answer.callJson);
  return isObject(told) && !Array.isArray(told) ? undefined : text;
}

function fittingCall(call: unknown): unknown {
  const text = textOf(call);
  if (text === undefined || !isObject(call)) return call;
  const told = text.trim() === '' ? {} : { INVALID_JSON: text };
  return { ...call, function: { ...(call.function as Json), arguments: JSON.stringify(told) } };
}
