import { describe, expect, it } from 'vitest';
import { withoutForeignThoughts } from '../../../../../src/models/messages/foreign-thoughts.ts';
import { MessagesRequest } from '../../../../../src/models/messages/messages-request.ts';
import { translateToChat } from '../../../../../src/models/messages/to-chat/translate-request.ts';
import { EFFORTS } from '../../../../../src/models/providers/efforts.ts';

const tool = (name: string) => ({ name, input_schema: { type: 'object' } });
const changed = (type: 'tool_addition' | 'tool_removal', name: string) => ({
  type,
  tool: { type: 'tool_reference', name },
});
const user = (content: unknown = 'hi') => ({ role: 'user', content });
const assistant = { role: 'assistant', content: 'ho' };
const system = (more: object) => ({ role: 'system', ...more });
const effort = (word: string) => system({ output_config: { effort: word } });
const result = [{ type: 'tool_result', tool_use_id: 't', content: 'x' }];

const requestOf = (messages: unknown, more: object = {}) =>
  MessagesRequest.parse({ model: 'a/b', max_tokens: 10, messages, ...more });

const isTaken = (messages: unknown) =>
  MessagesRequest.safeParse({ model: 'a/b', max_tokens: 10, messages }).success;

describe('turns of the system in a conversation', () => {
  it('a system turn may have no content only when it changes the output settings', () => {
    expect(isTaken([user(), effort('low')])).toBe(true);
    expect(isTaken([user(), system({})])).toBe(false);
    expect(isTaken([user(), system({ output_config: null })])).toBe(false);
    expect(isTaken([{ role: 'user', output_config: {} }])).toBe(false);
  });

  it('system turns stay when the thoughts of other models are left out', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: '' };
    const own = { role: 'assistant', content: [thought, { type: 'text', text: 'ho' }] };
    const turns = [user(), { role: 'assistant', content: [thought] }, own, effort('low'), user()];
    const { messages } = withoutForeignThoughts(requestOf(turns));
    expect(messages).toEqual([
      user(),
      { role: 'assistant', content: [{ type: 'text', text: 'ho' }] },
      effort('low'),
      user(),
    ]);
  });

  it('system turns without text become no chat messages', () => {
    const turns = [user(), effort('low'), system({ content: [changed('tool_addition', 'f')] })];
    const chat = translateToChat(requestOf(turns, { tools: [tool('f')] }));
    expect(chat.messages).toEqual([user()]);
    const said = [changed('tool_addition', 'f'), { type: 'text', text: 'Use f.' }];
    const told = requestOf([user(), system({ content: said })], { tools: [tool('f')] });
    expect(translateToChat(told).messages).toEqual([user(), system({ content: 'Use f.' })]);
  });

  it('system turns add and remove tools, and the last change of each tool counts', () => {
    const namesAfter = (...changes: object[]) => {
      const turns = changes.flatMap((change) => [user(), system({ content: [change] })]);
      const { tools } = translateToChat(requestOf(turns, { tools: [tool('f'), tool('g')] }));
      return (tools as { function: { name: string } }[] | undefined)?.map(
        (one) => one.function.name,
      );
    };
    expect(namesAfter(changed('tool_addition', 'g'))).toEqual(['f', 'g']);
    expect(namesAfter(changed('tool_removal', 'f'))).toEqual(['g']);
    const back = [changed('tool_removal', 'f'), changed('tool_addition', 'f')];
    expect(namesAfter(...back)).toEqual(['f', 'g']);
    expect(namesAfter(changed('tool_removal', 'f'), changed('tool_removal', 'g'))).toBeUndefined();
    const defined = {
      type: 'tool_addition',
      tool: { type: 'tool_definition', definition: tool('h') },
    };
    expect(namesAfter(defined)).toEqual(['f', 'g', 'h']);
    expect(namesAfter(defined, changed('tool_removal', 'h'))).toEqual(['f', 'g']);
  });

  it.each<[string, unknown[], string | undefined]>([
    ['at once behind new input', [user(), effort('low')], 'low'],
    ['from the next input on', [user(), assistant, effort('low'), user()], 'low'],
    ['not for results of tools alone', [user(), assistant, effort('low'), user(result)], 'high'],
    ['until another one comes', [user(), effort('low'), assistant, user(), effort('max')], 'max'],
    ['and stay', [user(), effort('low'), assistant, user()], 'low'],
  ])('system turns change the effort %s', (_, turns, expected) => {
    const request = requestOf(turns, { output_config: { effort: 'high' } });
    expect(translateToChat(request, { efforts: EFFORTS }).reasoning_effort).toBe(expected);
  });
});

describe('the effort of a request that is translated', () => {
  const asked = (more: object, taken = EFFORTS.slice(0)) =>
    translateToChat(requestOf([user()], more), { efforts: taken }).reasoning_effort;

  it('a translated request’s effort is none when thinking is disabled and the model accepts none', () => {
    const off = { thinking: { type: 'disabled' } };
    expect(asked(off)).toBe('none');
    expect(asked({ ...off, output_config: { effort: 'high' } })).toBe('none');
    expect(asked({ ...off, output_config: { effort: 'high' } }, ['low', 'medium'])).toBe('medium');
    expect(asked(off, ['low'])).toBeUndefined();
  });

  it('a translated request has no effort when the model’s efforts are unknown', () => {
    const request = requestOf([user()], { output_config: { effort: 'high' } });
    expect(translateToChat(request).reasoning_effort).toBeUndefined();
  });
});
