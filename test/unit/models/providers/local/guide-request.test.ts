import { describe, expect, it } from 'vitest';
import { EngineInputRefused } from '../../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../../src/engines/limits.ts';
import { readGuideParameters } from '../../../../../src/models/providers/local/guide-request.ts';

const tool = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, ...more },
});
const tools = [tool('a', { description: 'does', parameters: { type: 'object' } }), tool('b')];
const named = (name: string) => ({ type: 'function', function: { name } });

/** The member that is refused. */
function refused(body: object): string | undefined {
  try {
    readGuideParameters({ ...body });
  } catch (error) {
    if (error instanceof EngineInputRefused) return error.param;
    throw error;
  }
  return undefined;
}

describe('what a chat request asks of the guide', () => {
  it('a chat request for the local guide yields the allowed tools and whether a call is required', () => {
    const namesOf = (choice: unknown) => {
      const { mustCall, tools: offered } = readGuideParameters({ tools, tool_choice: choice });
      return [offered?.map(({ name }) => name).join(''), mustCall === true];
    };
    expect(readGuideParameters({ tools }).tools?.[0]).toEqual({
      name: 'a',
      description: 'does',
      parameters: { type: 'object' },
      place: 'tools.0.function.parameters',
    });
    expect(namesOf('auto')).toEqual(['ab', false]);
    expect(namesOf('required')).toEqual(['ab', true]);
    expect(namesOf('none')).toEqual([undefined, false]);
    expect(namesOf(named('b'))).toEqual(['b', true]);
    const allowed = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [named('a')] },
    });
    expect(namesOf(allowed('auto'))).toEqual(['a', false]);
    expect(namesOf(allowed('required'))).toEqual(['a', true]);
  });

  it('a chat request for the local guide yields the answer format and the stop sequences', () => {
    const schema = { type: 'object' };
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    expect(readGuideParameters({ response_format: format, stop: 'x' })).toEqual({
      format: { schema, place: 'response_format.json_schema.schema' },
      stop: ['x'],
    });
    expect(readGuideParameters({ response_format: { type: 'json_object' } }).format).toBeDefined();
    expect(readGuideParameters({ response_format: { type: 'text' }, stop: null })).toEqual({});
  });

  it('a chat request that the local guide cannot serve is refused by its member', () => {
    const big = { description: 'x'.repeat(ENGINE_LIMITS.guide.schemaChars) };
    const cases: [string, object][] = [
      ['logprobs', { logprobs: true }],
      ['top_logprobs', { top_logprobs: 1 }],
      ['logit_bias', { logit_bias: { 5: 1 } }],
      ['audio', { audio: {} }],
      ['modalities', { modalities: ['text', 'audio'] }],
      ['functions', { functions: [] }],
      ['function_call', { function_call: 'auto' }],
      ['web_search_options', { web_search_options: {} }],
      ['tools', { tools: {} }],
      ['tools', { tools: [tool('a', { parameters: big })] }],
      ['tools.1', { tools: [tools[0], { type: 'custom', custom: { name: 'x' } }] }],
      ['tools.0.function.name', { tools: [tool('')] }],
      ['tool_choice', { tools, tool_choice: 'any' }],
      ['tool_choice', { tools, tool_choice: named('c') }],
      ['tool_choice', { tool_choice: 'required' }],
      ['response_format.type', { response_format: { type: 'xml' } }],
      ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
      [
        'response_format.json_schema.schema',
        { response_format: { type: 'json_schema', json_schema: { schema: big } } },
      ],
    ];
    for (const [param, body] of cases) expect(refused(body)).toBe(param);
    const usual = { temperature: 2, seed: 1, presence_penalty: 1, prediction: {}, user: 'x' };
    const empty = { logprobs: false, logit_bias: {}, modalities: ['text'], audio: null };
    expect(readGuideParameters({ ...usual, ...empty, parallel_tool_calls: true })).toEqual({});
  });
});
