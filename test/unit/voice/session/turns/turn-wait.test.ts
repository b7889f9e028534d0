import { beforeEach, expect, it } from 'vitest';
import { Conversation } from '../../../../../src/voice/session/conversation.ts';
import { SERVER_VAD, type TurnDetection } from '../../../../../src/voice/session/turn-detection.ts';
import { TURN_MODES } from '../../../../../src/voice/session/turns/end-of-turn.ts';
import { TurnWait } from '../../../../../src/voice/session/turns/turn-wait.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const SEMANTIC: TurnDetection = {
  type: 'semantic_vad',
  eagerness: 'auto',
  waits: TURN_MODES.balanced,
  createResponse: true,
  interruptResponse: false,
};

let clock: ManualClock;
let conversation: Conversation;
let over: number;
beforeEach(() => {
  clock = new ManualClock();
  conversation = new Conversation();
  over = 0;
});

const openWait = (detection: TurnDetection = SEMANTIC) =>
  new TurnWait({
    clock,
    conversation,
    detection: () => detection,
    over: () => {
      over++;
    },
  });

let items = 0;
function says(
  wait: TurnWait,
  text: string,
  silentMs: number,
  isSpeaking = false,
  isTurnOver = false,
): boolean {
  const content = [{ type: 'speech', transcript: text }] as const;
  conversation.add({
    id: `${++items}`,
    type: 'message',
    role: 'user',
    status: 'completed',
    content,
    ...(wait.isOpen && { continues: true as const }),
  });
  return wait.heard(text, { silentMs, isSpeaking, isTurnOver });
}

it('a turn ends with a complete sentence, and is held open after digits for the rest of their wait', () => {
  const wait = openWait();
  expect([says(wait, 'what is my balance', 420), wait.isWaiting]).toEqual([false, false]);
  conversation.remove(`${items}`);
  expect(says(wait, 'four one five', 420)).toBe(true);
  clock.advance(TURN_MODES.balanced.onNumberMs - 421);
  expect([wait.isWaiting, over]).toEqual([true, 0]);
  clock.advance(1);
  expect([wait.isWaiting, over]).toEqual([false, 1]);
});

it('a caller who goes on ends the wait, and the words of both utterances are judged together', () => {
  const wait = openWait();
  says(wait, 'my phone number is four one five', 420);
  wait.resumed();
  clock.advance(10_000);
  expect(over).toBe(0);
  expect(says(wait, 'five five five', 420)).toBe(true);
  wait.resumed();
  // The tenth digit of a phone number is its last one.
  expect(says(wait, 'zero one two three', 420)).toBe(false);
});

it('a turn does not wait for silence when the caller already speaks again as the words come', () => {
  const wait = openWait();
  expect(says(wait, 'four one five', 420, true)).toBe(true);
  clock.advance(10_000);
  expect([wait.isOpen, wait.isWaiting, over]).toEqual([true, false, 0]);
});

it('a silence that the client has set ends a turn whatever the words are', () => {
  const wait = openWait(SERVER_VAD);
  expect(wait.silenceAfter('four one five')).toBeUndefined();
  expect(says(wait, 'four one five', 500)).toBe(false);
});

it('a transcriber that has punctuated once is expected to punctuate', () => {
  const wait = openWait();
  says(wait, 'The blue one.', 300);
  conversation.remove(`${items}`);
  expect(wait.silenceAfter('the red one')).toBe(TURN_MODES.balanced.onNoPunctuationMs);
});
