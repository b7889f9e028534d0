import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../../src/models/limits.ts';
import { translateRequest } from '../../../../../src/models/providers/anthropic/translate-request.ts';
import {
  EFFORTS,
  type Effort,
  effortsBetween,
} from '../../../../../src/models/providers/efforts.ts';
import type { Sampling } from '../../../../../src/models/providers/sampling.ts';

const hello = [{ role: 'user', content: 'Hello' }];
const translate = (more: object = {}) =>
  translateRequest({ model: 'claude', messages: hello, ...more });

/** What the caller is told of a request that cannot be served. */
function refusal(more: object): string {
  try {
    translate(more);
  } catch (error) {
    expect(error).toMatchObject({ name: 'UnfitRequest' });
    return (error as Error).message;
  }
  return 'served';
}

describe('the settings of a request', () => {
  it('a minimal chat request becomes a minimal Anthropic request with an output cap', () => {
    expect(translate()).toEqual({
      model: 'claude',
      max_tokens: MODEL_LIMITS.tokens.usualOutput,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    });
  });

  it('an Anthropic request keeps the caller’s output cap, and prefers max_completion_tokens', () => {
    expect(translate({ max_tokens: 7 }).max_tokens).toBe(7);
    expect(translate({ max_completion_tokens: 8 }).max_tokens).toBe(8);
    expect(translate({ max_tokens: 7, max_completion_tokens: 8 }).max_tokens).toBe(8);
    expect(translate({ max_tokens: null }).max_tokens).toBe(MODEL_LIMITS.tokens.usualOutput);
  });

  it('an Anthropic request’s temperature is limited to the range from 0 to 1', () => {
    const temperatures = [-1, 0, 0.4, 1, 1.7].map((asked) => translate({ temperature: asked }));
    expect(temperatures.map(({ temperature }) => temperature)).toEqual([0, 0, 0.4, 1, 1]);
    expect(translate({ temperature: null })).not.toHaveProperty('temperature');
  });

  it('a chat request’s settings get their Anthropic names', () => {
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

  it('a chat request’s hints are left out of the Anthropic request', () => {
    const hints = { seed: 7, prediction: {}, presence_penalty: 0, store: true, odd: {} };
    expect(translate({ ...hints, stream_options: { include_usage: true } })).toEqual(translate());
  });
});

describe('the format of an answer', () => {
  const schema = { type: 'object', properties: {}, additionalProperties: false };
  const formatted = (json_schema: object) =>
    translate({ response_format: { type: 'json_schema', json_schema } }).output_config;

  it('a JSON schema answer format becomes Anthropic’s format without name and strictness', () => {
    const format = { type: 'json_schema', schema };
    expect(formatted({ schema })).toEqual({ format });
    expect(formatted({ name: 'x', description: 'y', strict: false, schema })).toEqual({ format });
  });
});

describe('the effort of a request', () => {
  const ALL = effortsBetween('low', 'max');
  const asked = (reasoning_effort: unknown, efforts?: readonly Effort[]) =>
    translateRequest({ model: 'claude', messages: hello, reasoning_effort }, { efforts })
      .output_config;

  it('an Anthropic request’s effort is the requested one, or the nearest lower one that the model accepts', () => {
    const taken = (efforts: readonly Effort[]) =>
      EFFORTS.map((word) => asked(word, efforts)?.effort);
    expect(taken(ALL)).toEqual(['low', 'low', 'low', 'medium', 'high', 'xhigh', 'max']);
    expect(taken(['low', 'medium', 'high', 'max'])).toEqual([
      'low',
      'low',
      'low',
      'medium',
      'high',
      'high',
      'max',
    ]);
    expect(taken(['max', 'high'])).toEqual(['high', 'high', 'high', 'high', 'high', 'high', 'max']);
  });

  it('an Anthropic request has no effort when the model’s efforts or the requested one are unknown', () => {
    expect(asked('high')).toBeUndefined();
    for (const odd of [undefined, null, 7, 'most']) expect(asked(odd, ALL)).toBeUndefined();
  });

  it('an Anthropic request can have an effort and an answer format together', () => {
    const json_schema = { schema: { type: 'object' } };
    const response_format = { type: 'json_schema', json_schema };
    const request = { model: 'm', messages: hello, response_format, reasoning_effort: 'low' };
    expect(translateRequest(request, { efforts: ALL }).output_config).toEqual({
      format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } },
      effort: 'low',
    });
  });
});

describe('an answer that is to be one JSON object without a schema', () => {
  it('a JSON object answer without a schema is requested by a sentence after the instructions', () => {
    const messages = [{ role: 'system', content: 'Be brief.' }, ...hello];
    const response_format = { type: 'json_object' };
    const { output_config, system } = translateRequest({ model: 'm', messages, response_format });
    expect(output_config).toBeUndefined();
    expect(system).toEqual([
      { type: 'text', text: 'Be brief.' },
      {
        type: 'text',
        text: 'Answer with one valid JSON object, and write nothing before or after it.',
      },
    ]);
  });
});

describe('what a request says of sampling', () => {
  const asked = { model: 'm', messages: hello, temperature: 1.5, top_p: 0.5 };
  const taken = (sampling?: Sampling) => {
    const { temperature, top_p } = translateRequest(asked, { sampling });
    return { temperature, top_p };
  };

  it('an Anthropic request’s sampling settings are sent only as far as the model accepts them', () => {
    expect(taken()).toEqual({ temperature: 1, top_p: 0.5 });
    expect(taken('either')).toEqual({ temperature: 1 });
    expect(taken('neither')).toEqual({});
    expect(taken('unless_thinking')).toEqual({});
  });
});

describe('stop sequences', () => {
  it('stop sequences of white space alone are left out of the Anthropic request', () => {
    const stop = ['\n\n', 'END', ' '];
    expect(translateRequest({ model: 'm', messages: hello, stop }).stop_sequences).toEqual(['END']);
    const { stop_sequences: none } = translateRequest({ model: 'm', messages: hello, stop: '\n' });
    expect(none).toBeUndefined();
  });
});

describe('a request that cannot be served', () => {
  it('a chat request that Anthropic cannot serve is refused by the name of its member', () => {
    const cases: readonly [string, object][] = [
      ['n', { n: 2 }],
      ['logprobs', { logprobs: true }],
      ['top_logprobs', { top_logprobs: 3 }],
      ['logit_bias', { logit_bias: { 50256: -100 } }],
      ['audio', { audio: { voice: 'x' } }],
      ['modalities', { modalities: ['text', 'audio'] }],
      ['response_format', { response_format: { type: 'grammar' } }],
      [
        'response_format.json_schema.schema',
        { response_format: { type: 'json_schema', json_schema: { name: 'x' } } },
      ],
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

  it('a chat request is accepted with members that ask for the default behaviour', () => {
    const ordinary = {
      n: 1,
      logprobs: false,
      top_logprobs: 0,
      logit_bias: {},
      audio: null,
      modalities: ['text'],
      response_format: { type: 'text' },
      stop: null,
      user: null,
    };
    expect(translate(ordinary)).toEqual(translate());
  });
});
