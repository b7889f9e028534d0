import { type ConversationItem, partText } from '../conversation.ts';

type Message = Extract<ConversationItem, { type: 'message' }>;

/** A turn of more utterances is judged by its end. */
const MOST_ITEMS = 32;

const wordsOf = ({ content }: Message): string => content.map(partText).join(' ').trim();

/** An answer of which nothing was heard. */
const isUnheard = (item: ConversationItem): boolean =>
  item.type === 'message' && item.role === 'assistant' && wordsOf(item) === '';

/**
 * The same items, in which the utterances of one turn are one: its caller paused between them. The last of them keeps its
 * place and has all words.
 */
export function joinUtterances(items: readonly ConversationItem[]): readonly ConversationItem[] {
  const joined: ConversationItem[] = [];
  for (const item of items) {
    if (isUnheard(item)) continue;
    const before = joined.at(-1);
    const isOneTurn = item.type === 'message' && item.continues === true;
    if (!isOneTurn || before?.type !== 'message' || before.role !== 'user') {
      joined.push(item);
      continue;
    }
    const transcript = `${wordsOf(before)} ${wordsOf(item)}`.trim();
    joined[joined.length - 1] = { ...item, content: [{ type: 'speech', transcript }] };
  }
  return joined;
}

/** The last turn of the caller, and what the agent said before it. */
export function lastTurn(items: readonly ConversationItem[]): {
  readonly said: string;
  readonly asked: string;
} {
  const messages = joinUtterances(items.slice(-MOST_ITEMS)).filter(
    (item): item is Message => item.type === 'message',
  );
  const last = messages.at(-1);
  const said = last?.role === 'user' ? wordsOf(last) : '';
  const agent = messages.findLast(({ role }) => role === 'assistant');
  return { said, asked: agent === undefined ? '' : wordsOf(agent) };
}
