import { type ConversationItem, partText } from '../conversation.ts';

type Message = Extract<ConversationItem, { type: 'message' }>;

/** Number of items, from the end, that are read to find the last turn. */
const MOST_ITEMS = 32;

const wordsOf = ({ content }: Message): string => content.map(partText).join(' ').trim();

/** Returns true for an answer of which the caller heard nothing. */
const isUnheard = (item: ConversationItem): boolean =>
  item.type === 'message' && item.role === 'assistant' && wordsOf(item) === '';

/**
 * Returns the items with all utterances of one turn joined into one, because the caller only paused between them. The joined
 * item takes the place of the last utterance; answers of which the caller heard nothing are left out.
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

/** Returns the last turn of the caller (`said`) and the agent's words before it (`asked`). */
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
