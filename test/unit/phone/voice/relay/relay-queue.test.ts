import { describe, expect, it } from 'vitest';
import type { CallAction } from '../../../../../src/phone/voice/call-actions.ts';
import { RelayQueue } from '../../../../../src/phone/voice/relay/relay-queue.ts';

const text = (token: string, isLast = false) => ({ kind: 'text', token, isLast }) as const;
const action = (taken: CallAction) => ({ kind: 'action', action: taken }) as const;

/** Everything that waits, in words. */
function rest(queue: RelayQueue): string[] {
  const words: string[] = [];
  for (let entry = queue.next(); entry !== undefined; entry = queue.next()) {
    words.push(entry === 'last' ? '|' : entry.kind === 'text' ? entry.text : entry.name);
  }
  return words;
}

describe('what a relay application has said and no answer has taken', () => {
  it('RelayQueue keeps the answers of a ConversationRelay app apart', () => {
    const queue = new RelayQueue();
    for (const message of [text('a', true), text('b'), text('c', true)]) queue.take(message, false);
    expect(rest(queue)).toEqual(['a', '|', 'b', 'c', '|']);
  });

  it('RelayQueue skips the end of an empty answer, unless the call waits for an answer', () => {
    const queue = new RelayQueue();
    queue.take(text('', true), false);
    expect(rest(queue)).toEqual([]);
    queue.take(text('', true), true);
    expect(rest(queue)).toEqual(['|']);
  });

  it('RelayQueue drops the rest of an abandoned answer and keeps the next', () => {
    const queue = new RelayQueue();
    for (const message of [text('a', true), text('b', true)]) queue.take(message, true);
    queue.abandon();
    expect(rest(queue)).toEqual(['b', '|']);
  });

  it('RelayQueue drops later messages of an abandoned answer, up to the end of that answer', () => {
    const queue = new RelayQueue();
    queue.take(text('a'), true);
    queue.abandon();
    for (const message of [text('b'), text('c', true), text('d')]) queue.take(message, false);
    expect(rest(queue)).toEqual(['d']);
  });

  it('RelayQueue passes on the answer to a new utterance though the answer before never ended', () => {
    const queue = new RelayQueue();
    queue.abandon();
    queue.asked();
    queue.take(text('b', true), true);
    expect(rest(queue)).toEqual(['b', '|']);
  });

  it('RelayQueue passes on the answer to a key though the answer before never ended, and keeps waiting answers apart', () => {
    const queue = new RelayQueue();
    queue.take(text('a'), true);
    queue.abandon();
    queue.wentOn();
    for (const message of [text('b', true), text('c', true)]) queue.take(message, false);
    expect(rest(queue)).toEqual(['b', '|', 'c', '|']);
  });

  it('RelayQueue takes back an end of the call when the caller goes on, and passes on what follows', () => {
    const queue = new RelayQueue();
    queue.take(text('bye'), false);
    queue.take(action({ name: 'end_call' }), false);
    queue.wentOn();
    expect(queue.isEnded).toBe(false);
    queue.take(text('d', true), false);
    expect(rest(queue)).toEqual(['bye', 'd', '|']);
  });

  it('RelayQueue keeps end_call and set_language of an abandoned answer, and drops send_digits', () => {
    const queue = new RelayQueue();
    queue.abandon();
    queue.take(action({ name: 'send_digits', digits: '1' }), false);
    queue.take(action({ name: 'set_language', language: 'de' }), false);
    queue.take(action({ name: 'end_call' }), false);
    queue.abandon();
    expect(rest(queue)).toEqual(['set_language', 'end_call']);
  });

  it('RelayQueue takes nothing after the end of the call', () => {
    const queue = new RelayQueue();
    queue.take(action({ name: 'end_call' }), false);
    queue.take(text('and'), false);
    expect([rest(queue), queue.isEnded]).toEqual([['end_call'], true]);
  });

  it('RelayQueue refuses a message beyond its size limit', () => {
    const queue = new RelayQueue();
    const token = text('x'.repeat(16_384));
    expect([1, 2, 3, 4, 5].map(() => queue.take(token, false))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });
});
