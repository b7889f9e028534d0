import { expect, it } from 'vitest';
import { withOwnCallIds, withOwnId } from '../../../../src/models/chat/own-call-ids.ts';
import { signedId } from '../../../../src/models/chat/signed-call.ts';

const ID = signedId('call_1', 'c2ln');
const called = (id: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...more,
});
const chatOf = (first: object, id: string) => ({
  model: 'm',
  messages: [
    { role: 'user' as const, content: 'hi' },
    { role: 'assistant' as const, content: null, tool_calls: [first, called('call_2')] },
    { role: 'tool' as const, tool_call_id: id, content: 'done' },
    { role: 'tool' as const, tool_call_id: 'call_2', content: 'done' },
  ],
});

it('an upstream that signs its tool calls gets their own ids and signatures back', () => {
  const extra_content = { google: { thought_signature: 'c2ln' } };
  expect(withOwnCallIds(chatOf(called(ID), ID), true)).toEqual(
    chatOf(called('call_1', { extra_content }), 'call_1'),
  );
});

it('an upstream without signatures gets its own tool call ids back, without signatures', () => {
  expect(withOwnCallIds(chatOf(called(ID), ID), false)).toEqual(chatOf(called('call_1'), 'call_1'));
});

it('a chat without signed tool call ids stays unchanged', () => {
  for (const id of ['call_1', ID.slice(0, -1)]) {
    const chat = chatOf(called(id), id);
    expect(withOwnCallIds(chat, true)).toEqual(chatOf(called(id), id));
  }
  const plain = chatOf(called('call_1'), 'call_1');
  expect(withOwnCallIds(plain, true)).toBe(plain);
});

it('restoring a tool result’s own id keeps its other members', () => {
  expect(withOwnId({ type: 'tool_result', tool_use_id: ID }, 'tool_use_id')).toEqual({
    type: 'tool_result',
    tool_use_id: 'call_1',
  });
  const other = { call_id: 'x' };
  expect(withOwnId(other, 'call_id')).toBe(other);
});
