import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { translateMessages } from '../../../../../src/models/providers/anthropic/translate-messages.ts';

const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string, args: unknown = '{"city":"Oslo"}') => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: args },
});

function refusal(...messages: unknown[]): string {
  try {
    translateMessages(messages);
  } catch (error) {
    expect(error).toMatchObject({ name: 'UnfitRequest' });
    return (error as Error).message;
  }
  return 'served';
}

describe('the messages of a conversation', () => {
  it('system and developer messages become Anthropic’s system text, wherever they stand', () => {
    const { system, turns } = translateMessages([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'developer', content: [text('Be kind.'), text('')] },
    ]);
    expect(system).toEqual([text('Be brief.'), text('Be kind.')]);
    expect(turns).toEqual([{ role: 'user', content: [text('Hi')] }]);
  });

  it('neighbouring messages of one role become one Anthropic turn, and empty ones are left out', () => {
    const { turns } = translateMessages([
      { role: 'user', content: 'One' },
      { role: 'user', content: '', name: 'x' },
      { role: 'assistant', content: null },
      { role: 'user', content: [text('Two')] },
      { role: 'assistant', content: 'Three' },
      { role: 'assistant', content: [text('Four'), { type: 'refusal', refusal: 'No.' }] },
    ]);
    expect(turns).toEqual([
      { role: 'user', content: [text('One'), text('Two')] },
      { role: 'assistant', content: [text('Three'), text('Four'), text('No.')] },
    ]);
  });

  it('a tool result with a marked part is marked for caching as a whole', () => {
    const cache_control = { type: 'ephemeral' };
    const { turns } = translateMessages([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call('a')] },
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [{ ...text('Rain'), cache_control }, text('and wind')],
      },
    ]);
    expect(turns[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        cache_control,
        content: [text('Rain'), text('and wind')],
      },
    ]);
  });

  it('tool calls become blocks of the assistant, and their results one turn of the user', () => {
    const { turns } = translateMessages([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: 'Let me see.', tool_calls: [call('a'), call('b', '')] },
      { role: 'tool', tool_call_id: 'a', content: 'Rain' },
      { role: 'tool', tool_call_id: 'b', content: null },
      { role: 'user', content: 'Well?' },
    ]);
    const use = { type: 'tool_use', name: 'weather' };
    expect(turns.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          text('Let me see.'),
          { ...use, id: 'a', input: { city: 'Oslo' } },
          { ...use, id: 'b', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [text('Rain')] },
          { type: 'tool_result', tool_use_id: 'b' },
          text('Well?'),
        ],
      },
    ]);
  });

  it('tool call arguments that are no JSON object become Anthropic’s INVALID_JSON input', () => {
    const inputOf = (args: unknown) => {
      const { turns } = translateMessages([
        { role: 'assistant', content: null, tool_calls: [call('a', args)] },
        { role: 'tool', tool_call_id: 'a', content: 'Rain' },
      ]);
      const use = turns[0]?.content[0];
      return use?.type === 'tool_use' ? use.input : undefined;
    };
    expect(inputOf('{"city": "Ro')).toEqual({ INVALID_JSON: '{"city": "Ro' });
    expect(inputOf('["Rome"]')).toEqual({ INVALID_JSON: '["Rome"]' });
    const deep = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`;
    expect(inputOf(deep)).toEqual({ INVALID_JSON: deep });
    expect(inputOf({ city: 'Rome' })).toEqual({ city: 'Rome' });
    expect(inputOf('{"city":"Rome"}')).toEqual({ city: 'Rome' });
  });

  it('blank texts and white space at the end of an assistant prefill are removed for Anthropic', () => {
    const { system, turns } = translateMessages([
      { role: 'system', content: ' \n' },
      { role: 'user', content: [text('\n'), text('Hello')] },
      { role: 'assistant', content: 'It is ' },
    ]);
    expect(system).toEqual([]);
    expect(turns).toEqual([
      { role: 'user', content: [text('Hello')] },
      { role: 'assistant', content: [text('It is')] },
    ]);
  });

  it('a message that Anthropic cannot take is refused with its place and without its content', () => {
    const cases: readonly [RegExp, unknown][] = [
      [/^messages\[0\]\.tool_calls\[0\]\.id/, { role: 'assistant', tool_calls: [{}] }],
      [/^messages\[0\]\.tool_calls\[0\]\.id/, { role: 'assistant', tool_calls: ['secret'] }],
      [/^messages\[0\]\.tool_calls must/, { role: 'assistant', tool_calls: 'secret' }],
      [
        /^messages\[0\]\.tool_calls\[0\]\.function is missing/,
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: {} }] },
      ],
      [/^messages\[0\]\.audio/, { role: 'assistant', audio: { id: 'secret' } }],
      [/^messages\[0\]\.function_call/, { role: 'assistant', function_call: { name: 'x' } }],
      [/^messages\[0\]\.tool_call_id/, { role: 'tool', content: 'secret' }],
      [/^messages\[0\]\.role/, { role: 'function', name: 'secret', content: 'x' }],
      [/^messages\[0\]\.content must/, { role: 'user', content: 7 }],
      [/^messages\[0\] must/, 'secret'],
    ];
    for (const [message, sent] of cases) {
      expect(refusal(sent)).toMatch(message);
      expect(refusal(sent)).not.toContain('secret');
    }
  });

  it('a chat without any user or assistant text is refused', () => {
    expect(refusal()).toMatch(/^messages must/);
    expect(refusal({ role: 'system', content: 'Be brief.' })).toMatch(/^messages must/);
    expect(refusal({ role: 'user', content: '' })).toMatch(/^messages must/);
  });

  it('any list of chat messages becomes alternating non-empty turns or is refused', () => {
    const message = fc.record(
      {
        role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'x'),
        content: fc.oneof(fc.string(), fc.jsonValue(), fc.array(fc.record({ type: fc.string() }))),
        tool_calls: fc.oneof(fc.jsonValue(), fc.array(fc.constant(call('a')))),
        tool_call_id: fc.string(),
      },
      { requiredKeys: ['role'] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(message, fc.jsonValue()), { maxLength: 6 }), (messages) => {
        try {
          const { turns } = translateMessages(messages);
          turns.forEach(({ role, content }, index) => {
            expect(content.length).toBeGreaterThan(0);
            if (index > 0) expect(role).not.toBe(turns[index - 1]?.role);
          });
        } catch (error) {
          expect(error).toMatchObject({ name: 'UnfitRequest' });
        }
      }),
    );
  });
});
