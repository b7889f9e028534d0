import { copyDigits } from '../../../kernel/json/digits.ts';
import type { Json } from '../../../kernel/json.ts';

type Message = Json & { readonly role: string };

/** Message of the assistant that is inserted between tool results and the user's next message. */
const ANSWER: Message = { role: 'assistant', content: 'OK.' };

/**
 * Returns a translated chat in the order that Mistral requires (https://github.com/mistralai/mistral-common,
 * `_validate_message_order`): an assistant's message follows tool results, late instructions become messages of the user, and
 * an assistant's message at the end has `prefix`. Returns the same object if it has that order.
 */
export function inStrictOrder<C extends { readonly messages: readonly Message[] }>(chat: C): C {
  const { messages } = chat;
  if (messages.at(-1)?.role !== 'assistant' && !messages.some(isMisplaced)) return chat;
  const ordered: Message[] = [];
  for (const given of messages) {
    const before = ordered.at(-1)?.role;
    const isLate = isInstruction(given) && (before === 'assistant' || before === 'tool');
    const message: Message = isLate ? { ...given, role: 'user' } : given;
    if (before === 'tool' && message.role === 'user') ordered.push(ANSWER);
    ordered.push(message);
  }
  const last = ordered.at(-1);
  if (last?.role === 'assistant') ordered.splice(-1, 1, { ...last, prefix: true });
  return copyDigits(chat, Object.assign({ messages: ordered }, chat, { messages: ordered }));
}

const isInstruction = ({ role }: Message): boolean => role === 'system' || role === 'developer';

function isMisplaced(message: Message, at: number, all: readonly Message[]): boolean {
  const before = all[at - 1]?.role;
  if (before === 'tool') return message.role === 'user' || isInstruction(message);
  return before === 'assistant' && isInstruction(message);
}
