import { copyDigits } from '../../kernel/json/digits.ts';
import type { ChatRail } from '../providers/chat-rail.ts';
import type { ChatCallOptions } from './chat-product.ts';
import type { ChatRequest } from './chat-request.ts';

/** Facts of a source about thinking: its acceptance of thoughts in earlier messages, and the model's `thinking` switch. */
type Thinker = Pick<ChatRail, 'thoughts'> & Pick<ChatCallOptions, 'thinkingSwitch'>;

/** Caller's choice between thinking and no thinking. Undefined: the vendor's default. */
export type ThinkingPreference = 'on' | 'off' | undefined;

type Thoughtful = { readonly role: string; readonly reasoning_content?: unknown };

/** Removes `reasoning_content` from the messages. */
export const withoutThoughts = <M extends Thoughtful>(messages: readonly M[]): readonly M[] =>
  messages.some(({ reasoning_content: thoughts }) => thoughts !== undefined)
    ? messages.map(({ reasoning_content: _, role, ...rest }) => ({ role, ...rest }) as M)
    : messages;

/**
 * Adapts a translated chat to one source. Keeps the `reasoning_content` of earlier messages only when the source accepts it.
 * Sets `thinking` for a model with that switch: `disabled` when the caller wants no reasoning, and when the source requires the
 * reasoning before each tool call but the client has not returned all of it, because the vendor answers 400 otherwise.
 */
export function forThinker(
  chat: ChatRequest,
  wish: ThinkingPreference,
  { thinkingSwitch, thoughts }: Thinker,
): ChatRequest {
  const canStop = thinkingSwitch === true;
  const lacksAny = () => thoughts === 'demanded' && chat.messages.some(lacksThoughts);
  const isOff = canStop && (wish === 'off' || lacksAny());
  const isOn = canStop && wish === 'on' && !isOff;
  const kept = thoughts === undefined || isOff ? withoutThoughts(chat.messages) : chat.messages;
  if (kept === chat.messages && !isOff && !isOn) return chat;
  // Only a changed chat is copied: most chats stay unchanged, and every request runs this code.
  const { messages: _, model, ...rest } = chat;
  const messages = [...kept];
  // DeepSeek refuses an effort when thinking is disabled.
  if (isOff) {
    return copyDigits(chat, {
      model,
      ...rest,
      messages,
      thinking: { type: 'disabled' },
      reasoning_effort: undefined,
    });
  }
  const on = isOn && { thinking: { type: 'enabled' } };
  return copyDigits(chat, { model, ...rest, messages, ...on });
}

/**
 * Returns true when the client must get the reasoning without a request: the source requires it back with each tool call,
 * and its model has no switch to disable thinking.
 */
export const mustShowThoughts = (
  { tools }: ChatRequest,
  { thinkingSwitch, thoughts }: Thinker,
): boolean => thoughts === 'demanded' && thinkingSwitch !== true && tools !== undefined;

const lacksThoughts = ({
  reasoning_content: thoughts,
  role,
  tool_calls: calls,
}: ChatRequest['messages'][number]): boolean =>
  role === 'assistant' && calls !== undefined && (thoughts === undefined || thoughts === '');
