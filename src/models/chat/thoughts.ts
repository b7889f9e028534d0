import type { ChatRail } from '../providers/chat-rail.ts';
import type { ChatRequest } from './chat-request.ts';
import type { CallOrder } from './want-chat.ts';

/** What one source makes of thoughts: whether it takes them back, and whether its model can be told not to think. */
type Thinker = Pick<ChatRail, 'thoughts'> & Pick<CallOrder, 'thinkingSwitch'>;

/** Whether a caller wants a model to think. Undefined: as its vendor has it. */
export type ThinkingWish = 'on' | 'off' | undefined;

type Thoughtful = { readonly role: string; readonly reasoning_content?: unknown };

/** The messages without what was thought before them. */
export const withoutThoughts = <M extends Thoughtful>(messages: readonly M[]): readonly M[] =>
  messages.some(({ reasoning_content: thoughts }) => thoughts !== undefined)
    ? messages.map(({ reasoning_content: _, role, ...rest }) => ({ role, ...rest }) as M)
    : messages;

/**
 * A translated chat as one source takes it: with the thoughts of the conversation where the source takes them, and with the switch
 * of its model. The model is told not to think where the caller does not want it to, and where the source would refuse the
 * conversation otherwise, because a client has not given a thought back.
 */
export function forThinker(
  chat: ChatRequest,
  wish: ThinkingWish,
  { thinkingSwitch, thoughts }: Thinker,
): ChatRequest {
  const canStop = thinkingSwitch === true;
  const lacksAny = () => thoughts === 'demanded' && chat.messages.some(lacksThoughts);
  const isOff = canStop && (wish === 'off' || lacksAny());
  const isOn = canStop && wish === 'on' && !isOff;
  const { messages: all, model, ...rest } = chat;
  const kept = thoughts === undefined || isOff ? withoutThoughts(all) : all;
  if (kept === all && !isOff && !isOn) return chat;
  const messages = [...kept];
  // DeepSeek refuses an effort beside the switch that is off.
  if (isOff) {
    return {
      model,
      ...rest,
      messages,
      thinking: { type: 'disabled' },
      reasoning_effort: undefined,
    };
  }
  return { model, ...rest, messages, ...(isOn && { thinking: { type: 'enabled' } }) };
}

/**
 * Whether a conversation with tools would break unless its caller gets the thoughts, wanted or not: the source demands them back,
 * and its model cannot be kept from thinking.
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
