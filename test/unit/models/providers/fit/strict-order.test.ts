import { describe, expect, it } from 'vitest';
import { withObjectArguments } from '../../../../../src/models/providers/fit/chat-arguments.ts';
import { inStrictOrder } from '../../../../../src/models/providers/fit/strict-order.ts';

const say = (role: string, content = role) => ({ role, content });
const orderOf = (...roles: string[]) =>
  inStrictOrder({ messages: roles.map((role) => say(role)) }).messages;

describe('a chat in the order that Mistral asks for', () => {
  it('has an answer between the results of tools and the user', () => {
    expect(orderOf('user', 'assistant', 'tool', 'tool', 'user').map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'user',
    ]);
  });

  it('has late instructions as words of the user', () => {
    expect(orderOf('system', 'user', 'assistant', 'system', 'user')).toEqual([
      say('system'),
      say('user'),
      say('assistant'),
      say('user', 'system'),
      say('user'),
    ]);
  });

  it('says that an answer at its end is to be gone on with', () => {
    expect(orderOf('user', 'assistant').at(-1)).toEqual({ ...say('assistant'), prefix: true });
  });

  it('is the very same chat where it has that order', () => {
    const chat = { messages: ['system', 'user', 'assistant', 'tool'].map((role) => say(role)) };
    expect(inStrictOrder(chat)).toBe(chat);
  });
});

describe('the arguments of the calls of a translated chat', () => {
  const chatWith = (text: string) => ({
    messages: [{ role: 'assistant', tool_calls: [{ id: 'a', function: { arguments: text } }] }],
  });

  it('are the JSON of an object, whatever the model wrote', () => {
    expect(withObjectArguments(chatWith('{"a": "b'))).toEqual(
      chatWith('{"INVALID_JSON":"{\\"a\\": \\"b"}'),
    );
    expect(withObjectArguments(chatWith(' '))).toEqual(chatWith('{}'));
  });

  it('leave the very same chat where they are that', () => {
    const chat = chatWith('{"a": 12345678901234567890}');
    expect(withObjectArguments(chat)).toBe(chat);
  });
});
