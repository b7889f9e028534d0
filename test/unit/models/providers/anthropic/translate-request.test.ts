import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../../src/kernel/limits.ts';
import { translateRequest } from '../../../../../src/models/providers/anthropic/translate-request.ts';
import { UnfitRequest } from '../../../../../src/models/providers/anthropic/unfit-request.ts';

const hello = [{ role: 'user', content: 'Hello' }];
const translate = (more: object = {}) =>
  translateRequest({ model: 'claude', messages: hello, ...more });

/** What the caller is told of a request that cannot be served. */
function refusal(more: object): string {
  try {
    translate(more);
  } catch (error) {
    expect(error).toBeInstanceOf(UnfitRequest);
    return (error as UnfitRequest).message;
  }
  return 'served';
}

describe('the settings of a request', () => {
  it('are as few as they can be, with a cap on the output in any case', () => {
    expect(translate()).toEqual({
      model: 'claude',
      max_tokens: LIMITS.defaultOutputTokens,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
  });

  it('keep the caller’s cap under either of its names, the newer one first', () => {
    expect(translate({ max_tokens: 7 }).max_tokens).toBe(7);
    expect(translate({ max_completion_tokens: 8 }).max_tokens).toBe(8);
    expect(translate({ max_tokens: 7, max_completion_tokens: 8 }).max_tokens).toBe(8);
    expect(translate({ max_tokens: null }).max_tokens).toBe(LIMITS.defaultOutputTokens);
  });

  it('fit their scale, which ends at 1 for the temperature', () => {
    const temperatures = [-1, 0, 0.4, 1, 1.7].map((asked) => translate({ temperature: asked }));
    expect(temperatures.map(({ temperature }) => temperature)).toEqual([0, 0, 0.4, 1, 1]);
    expect(translate({ temperature: null })).not.toHaveProperty('temperature');
  });

  it('go by the names that they have there', () => {
    const settings = { top_p: 0.9, stop: ['a', 'b'], user: 'u-1', stream: true };
    expect(translate(settings)).toMatchObject({
      top_p: 0.9,
      stop_sequences: ['a', 'b'],
      metadata: { user_id: 'u-1' },
      stream: true,
    });
    expect(translate({ stop: 'end' }).stop_sequences).toEqual(['end']);
    expect(translate({ stream: false })).not.toHaveProperty('stream');
  });

  it('are left out where they are hints alone', () => {
    const hints = { seed: 7, prediction: {}, presence_penalty: 0, store: true, odd: {} };
    expect(translate({ ...hints, stream_options: { include_usage: true } })).toEqual(translate());
  });
});

describe('a request that cannot be served', () => {
  it('is refused by the name of its field, and not served by half', () => {
    const cases: readonly [string, object][] = [
      ['n', { n: 2 }],
      ['logprobs', { logprobs: true }],
      ['top_logprobs', { top_logprobs: 3 }],
      ['logit_bias', { logit_bias: { 50256: -100 } }],
      ['audio', { audio: { voice: 'x' } }],
      ['modalities', { modalities: ['text', 'audio'] }],
      ['response_format', { response_format: { type: 'json_schema', json_schema: {} } }],
      ['response_format', { response_format: { type: 'json_object' } }],
      ['presence_penalty', { presence_penalty: 1 }],
      ['frequency_penalty', { frequency_penalty: -0.5 }],
      ['functions', { functions: [] }],
      ['function_call', { function_call: 'auto' }],
      ['web_search_options', { web_search_options: {} }],
      ['temperature', { temperature: 'warm' }],
      ['max_tokens', { max_tokens: '9' }],
      ['stop', { stop: [7] }],
    ];
    for (const [field, more] of cases)
      expect(refusal(more)).toMatch(new RegExp(`^${field} .+\\.$`));
  });

  it('is none where the field asks for what is given anyway', () => {
    const ordinary = {
      ...{ n: 1, logprobs: false, top_logprobs: 0, logit_bias: {}, audio: null },
      ...{ modalities: ['text'], response_format: { type: 'text' }, stop: null, user: null },
    };
    expect(translate(ordinary)).toEqual(translate());
  });
});
