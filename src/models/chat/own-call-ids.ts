import { copyDigits } from '../../kernel/json/digits.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import type { ChatRequest } from './chat-request.ts';
import { bareId, mayCarry, ownId, signed } from './signed-call.ts';

type Message = ChatRequest['messages'][number];

/** Members that hold ids of calls, in all dialects. */
type IdMember = 'id' | 'call_id' | 'tool_use_id' | 'tool_call_id';

/** Returns a call, or its result, under the id that its upstream gave the call. */
export function withOwnId<T extends Json>(part: T, member: IdMember): T {
  const given = part[member];
  if (!mayCarry(given)) return part;
  const id = bareId(given);
  return id === given ? part : { [member]: id, ...part, [member]: id };
}

/**
 * Returns a chat whose calls have their upstreams' own ids, without the data that the ids carried through the client. Only an
 * upstream that signs its calls gets the signatures back.
 */
export function withOwnCallIds(chat: ChatRequest, signsCalls: boolean): ChatRequest {
  const { messages } = chat;
  if (!messages.some(hasCarried)) return chat;
  // A copy that begins with its own member shares one hidden class with all other copies (0075).
  const own: ChatRequest = Object.assign({ messages }, chat);
  own.messages = messages.map((message) =>
    hasCarried(message) ? withOwnIds(message, signsCalls) : message,
  );
  return copyDigits(chat, own);
}

const callsOf = ({ tool_calls: calls }: Message): readonly unknown[] =>
  Array.isArray(calls) ? calls : [];

const hasCarried = (message: Message): boolean =>
  mayCarry(message.tool_call_id) ||
  callsOf(message).some((call) => isObject(call) && mayCarry(call.id));

function withOwnIds(message: Message, signsCalls: boolean): Message {
  const own = withOwnId(message, 'tool_call_id');
  const calls = callsOf(message);
  if (calls.length === 0) return own;
  return Object.assign({ role: own.role }, own, {
    tool_calls: calls.map((call) => ownCall(call, signsCalls)),
  });
}

function ownCall(call: unknown, signsCalls: boolean): unknown {
  if (!isObject(call) || !mayCarry(call.id)) return call;
  const { id, signature } = ownId(call.id);
  const extra = signsCalls && signature !== '' ? signed(signature) : {};
  return Object.assign({ id }, call, { id }, extra);
}
