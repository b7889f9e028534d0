import { describe, expect, it } from 'vitest';
import { translateTools } from '../../../../../src/models/providers/anthropic/translate-tools.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Tells it.', parameters, strict: true },
};
const tools = [weather];
const choiceOf = (more: object) => translateTools({ tools, ...more }).tool_choice;

describe('the tools of a request', () => {
  it('chat tools keep their names, descriptions, schemas and strictness at Anthropic', () => {
    const bare = { type: 'function', function: { name: 'now' } };
    const loose = { type: 'function', function: { name: 'loose', parameters, strict: false } };
    expect(translateTools({ tools: [weather, loose, bare] })).toEqual({
      tools: [
        {
          name: 'weather',
          description: 'Tells it.',
          strict: true,
          input_schema: { ...parameters, additionalProperties: false },
        },
        { name: 'loose', input_schema: parameters },
        { name: 'now', input_schema: { type: 'object', properties: {} } },
      ],
    });
  });

  it('chat tools without a type or properties get an object schema at Anthropic', () => {
    const named = (given: object) => ({
      type: 'function',
      function: { name: 'f', parameters: given },
    });
    const schemaOf = (given: object) => translateTools({ tools: [named(given)] }).tools?.[0];
    const nothing = { name: 'f', input_schema: { type: 'object', properties: {} } };
    expect([{}, { type: 'object' }, { type: null }].map(schemaOf)).toEqual(Array(3).fill(nothing));
    const { properties } = parameters;
    expect(schemaOf({ properties })).toEqual({ name: 'f', input_schema: parameters });
  });

  it('chat tools keep their cache_control, inside or outside of the function', () => {
    const cache_control = { type: 'ephemeral' };
    const now = { name: 'now', input_schema: { type: 'object', properties: {} }, cache_control };
    const outside = { type: 'function', function: { name: 'now' }, cache_control };
    const inside = { type: 'function', function: { name: 'now', cache_control } };
    expect(translateTools({ tools: [outside, inside] })).toEqual({ tools: [now, now] });
    const odd = { ...outside, cache_control: true };
    expect(() => translateTools({ tools: [odd] })).toThrow(/^tools\[0\]\.cache_control must be/);
  });

  it('a chat tool_choice becomes Anthropic’s tool choice', () => {
    const named = { type: 'function', function: { name: 'weather' } };
    expect(choiceOf({})).toBeUndefined();
    expect(choiceOf({ tool_choice: 'auto' })).toEqual({ type: 'auto' });
    expect(choiceOf({ tool_choice: 'none' })).toEqual({ type: 'none' });
    expect(choiceOf({ tool_choice: 'required' })).toEqual({ type: 'any' });
    expect(choiceOf({ tool_choice: named })).toEqual({ type: 'tool', name: 'weather' });
  });

  it('parallel_tool_calls false disables parallel tool use at Anthropic unless the tool choice is none', () => {
    const single = { parallel_tool_calls: false };
    const one = { disable_parallel_tool_use: true };
    expect(choiceOf(single)).toEqual({ type: 'auto', ...one });
    expect(choiceOf({ ...single, tool_choice: 'required' })).toEqual({ type: 'any', ...one });
    expect(choiceOf({ ...single, tool_choice: 'none' })).toEqual({ type: 'none' });
    expect(choiceOf({ parallel_tool_calls: true })).toBeUndefined();
  });

  it('a chat request without tools gets no tools and no tool choice at Anthropic', () => {
    for (const none of [undefined, null, []]) {
      const request = { tools: none, tool_choice: 'auto', parallel_tool_calls: false };
      expect(translateTools(request)).toEqual({});
    }
    expect(() => translateTools({ tool_choice: 'required' })).toThrow(/^tool_choice needs tools/);
  });

  it('chat tools of another kind are refused with their place', () => {
    expect(() => translateTools({ tools: [weather, { type: 'custom' }] })).toThrow(
      /^tools\[1\] must/,
    );
    expect(() => translateTools({ tools: [{ type: 'function', function: {} }] })).toThrow(
      /^tools\[0\]\.function\.name must/,
    );
    expect(() => translateTools({ tools: {} })).toThrow(/^tools must/);
    for (const choice of ['any', { type: 'allowed_tools' }, { type: 'function' }, 7]) {
      expect(() => choiceOf({ tool_choice: choice })).toThrow(/^tool_choice must/);
    }
  });
});
