import { expect, it } from 'vitest';
import type { ConversationItem } from '../../../../../src/voice/session/conversation.ts';
import { writtenMessage } from '../../../../../src/voice/session/conversation.ts';
import { joinUtterances, lastTurn } from '../../../../../src/voice/session/turns/turn-so-far.ts';

type Message = Extract<ConversationItem, { type: 'message' }>;

const spoken = (id: string, role: Message['role'], transcript: string): Message => ({
  id,
  type: 'message',
  role,
  status: 'completed',
  content: [{ type: 'speech', transcript }],
});

const ITEMS: readonly ConversationItem[] = [
  spoken('1', 'user', 'hello'),
  spoken('2', 'assistant', 'What is your number?'),
  spoken('3', 'user', 'four one five'),
  spoken('4', 'assistant', ''),
  { ...spoken('5', 'user', 'five five five'), continues: true },
];

it('the last turn is what the caller said in its utterances, and what the agent said before', () => {
  const asked = 'What is your number?';
  expect(lastTurn(ITEMS)).toEqual({ said: 'four one five five five five', asked });
  expect(lastTurn([])).toEqual({ said: '', asked: '' });
  expect(lastTurn([...ITEMS, spoken('6', 'user', 'yes')])).toEqual({ said: 'yes', asked });
  expect(lastTurn(ITEMS.slice(0, 2))).toEqual({ said: '', asked });
});

it('the utterances of one turn are joined, without those of other turns and without notes', () => {
  const note = writtenMessage('6', 'user', '[keypad] 12');
  const joined = joinUtterances([...ITEMS, note, spoken('7', 'user', 'yes')]);
  expect(joined.map(({ id }) => id)).toEqual(['1', '2', '5', '6', '7']);
  expect(joined[2]).toMatchObject(spoken('5', 'user', 'four one five five five five'));
});

it('an utterance whose turn was already answered is not joined with others', () => {
  const answered = [...ITEMS.slice(0, 3), spoken('4', 'assistant', 'Thanks.'), ...ITEMS.slice(4)];
  expect(joinUtterances(answered)).toEqual(answered);
});
