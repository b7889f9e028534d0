import { isObject, type Json } from '../../../kernel/json.ts';
import { type CallIdForm, CallIds, hasOddId } from './call-ids.ts';

/** Returns the chat with ids that its vendor accepts, on calls and on their results. Returns the same object if all ids fit. */
export function withFittingIds(chat: Json, form: CallIdForm): Json {
  const { messages } = chat;
  if (!Array.isArray(messages) || !messages.some(hasCalls)) return chat;
  if (!hasOddId(form, idsOf(messages))) return chat;
  const ids = new CallIds(form);
  const fitting = (messages as unknown[]).map((message) => {
    if (!isObject(message)) return message;
    const { role, tool_call_id: answered, tool_calls: calls } = message;
    if (typeof answered === 'string') {
      return Object.assign({ role }, message, { tool_call_id: ids.result(answered) });
    }
    if (!Array.isArray(calls)) return message;
    const named = calls.map((call: unknown) =>
      isCall(call) ? { ...call, id: ids.call(call.id) } : call,
    );
    return Object.assign({ role }, message, { tool_calls: named });
  });
  return Object.assign({ model: chat.model }, chat, { messages: fitting });
}

const hasCalls = (message: unknown): boolean =>
  isObject(message) && Array.isArray(message.tool_calls);

const isCall = (call: unknown): call is Json & { readonly id: string } =>
  isObject(call) && typeof call.id === 'string';

function* idsOf(messages: readonly unknown[]): Generator<string> {
  for (const message of messages) {
    if (!isObject(message) || !Array.isArray(message.tool_calls)) continue;
    for (const call of message.tool_calls as unknown[]) if (isCall(call)) yield call.id;
  }
}
