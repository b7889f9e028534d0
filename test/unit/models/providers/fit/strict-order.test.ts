import { describe, expect, it } from 'vitest';
import { withObjectArguments } from '../../../../../src/models/providers/fit/chat-arguments.ts';
import { inStrictOrder } from '../../../../../src/models/providers/fit/strict-order.ts';

const say = (role: string, content = role) => ({ role, content });
const orderOf = (...roles: string[]) =>
  inStrictOrder({ messages: roles.map((role) => say(role)) }).messages;

describe('a chat in the order that Mistral asks for', () => {
  it('a chat for Mistral gets an assistant message between tool results and a user message', () => {
    expect(orderOf('user', 'assistant', 'tool', 'tool', 'user').map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('a chat for Mistral has late system messages as user messages', () => {
    expect(orderOf('system', 'user', 'assistant', 'system', 'user')).toEqual([
      say('system'),
      say('user'),
      say('assistant'),
      say('user', 'system'),
      say('user'),
    ]);
  });

  it('a chat for Mistral marks an assistant message at its end as a prefix', () => {
    expect(orderOf('user', 'assistant').at(-1)).toEqual({ ...say('assistant'), prefix: true });
  });

  it('a chat that is already in Mistral’s order is passed on as the same object', () => {
    const chat = { messages: ['system', 'user', 'assistant', 'tool'].map((role) => say(role)) };
    expect(inStrictOrder(chat)).toBe(chat);
  });
});

describe('the arguments of the calls of a translated chat', () => {
  const chatWith = (text: string) => ({
    messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { arguments: text } }] }],
  });

  it('a translated chat’s invalid tool call arguments become a JSON object', () => {
    expect(withObjectArguments(chatWith('{"a": "b'))).toEqual(
      chatWith('{"INVALID_JSON":"{\\"a\\": \\"b"}'),
    );
    expect(withObjectArguments(chatWith(' '))).toEqual(chatWith('{}'));
  });

  it('a translated chat with valid tool call arguments is passed on as the same object', () => {
    const chat = chatWith('{"a": 12345678901234567890}');
    expect(withObjectArguments(chat)).toBe(chat);
  });
});
