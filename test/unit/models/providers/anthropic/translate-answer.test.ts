import { describe, expect, it } from 'vitest';
import {
  finishReasonOf,
  translateAnswer,
  translateError,
} from '../../../../../src/models/providers/anthropic/translate-answer.ts';

const message = (more: object = {}) => ({
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
  content: [{ type: 'text', text: 'Good morning.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 4 },
  ...more,
});
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));
const translate = (more: object = {}) => translateAnswer(message(more), 1_735_689_600);

const toolUse = (id: string, input: unknown) => ({ type: 'tool_use', id, name: 'weather', input });

describe('a message', () => {
  it('an Anthropic message becomes a completion with the upstream’s id, model and counts', () => {
    expect(translate()).toEqual({
      completion: {
        id: 'msg_01',
        object: 'chat.completion',
        created: 1_735_689_600,
        model: 'claude-haiku-4-5-20251001',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Good morning.', refusal: null },
            logprobs: null,
            finish_reason: 'stop',
          },
        ],
        usage: {
          prompt_tokens: 12,
          completion_tokens: 4,
          total_tokens: 16,
          prompt_tokens_details: { cached_tokens: 0 },
        },
      },
      usage: { inputTokens: 12, cachedTokens: 0, outputTokens: 4 },
      answerChars: 13,
    });
  });

  it('an Anthropic message’s tool calls have arguments as text, and null content when it has no text', () => {
    const content = [toolUse('a', { city: 'Oslo' }), toolUse('b', undefined)];
    const translated = translate({ content, stop_reason: 'tool_use' });
    const call = (id: string, args: string) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: args },
    });
    expect(translated?.completion.choices).toEqual([
      expect.objectContaining({
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [call('a', '{"city":"Oslo"}'), call('b', '{}')],
        },
      }),
    ]);
  });

  it('an Anthropic message’s thoughts are counted and left out of the completion', () => {
    const content = [
      { type: 'thinking', thinking: 'Hmm.', signature: 'x' },
      { type: 'redacted_thinking', data: 'y' },
      { type: 'text', text: 'Good ' },
      { type: 'text', text: 'day.' },
    ];
    const translated = translate({ content });
    expect(translated?.answerChars).toBe(13);
    expect(translated?.completion).toMatchObject({
      choices: [{ message: { content: 'Good day.' } }],
    });
    expect(JSON.stringify(translated?.completion)).not.toContain('Hmm');
  });

  it('an Anthropic message’s stop reason becomes a finish reason of chat', () => {
    const reasons = {
      end_turn: 'stop',
      stop_sequence: 'stop',
      pause_turn: 'stop',
      max_tokens: 'length',
      tool_use: 'tool_calls',
      refusal: 'content_filter',
      model_context_window_exceeded: 'length',
      unheard_of: 'stop',
    };
    for (const [theirs, ours] of Object.entries(reasons)) expect(finishReasonOf(theirs)).toBe(ours);
    expect(finishReasonOf(null)).toBe('stop');
  });

  it('an Anthropic message without billable usage becomes a completion without usage', () => {
    for (const usage of [undefined, null, { input_tokens: -1, output_tokens: 1 }]) {
      const translated = translate({ usage });
      expect(translated?.usage).toBeNull();
      expect(translated?.completion).not.toHaveProperty('usage');
    }
  });

  it('a body that is no Anthropic message is not translated', () => {
    const none = [
      undefined,
      {},
      [],
      null,
      7,
      'text',
      { type: 'error', error: {} },
      { content: 'text' },
    ];
    for (const body of none) expect(translateAnswer(body, 0)).toBeUndefined();
    expect(translate({ content: [7] })).toBeUndefined();
    expect(translate({ content: [{ type: 'tool_use', id: 'a' }] })).toBeUndefined();
  });
});

describe('an error', () => {
  it('an Anthropic error becomes an OpenAI error object with the upstream’s own message', () => {
    const error = { type: 'invalid_request_error', message: 'max_tokens: too large' };
    expect(translateError(bytes({ type: 'error', error, request_id: 'req_1' }), 400)).toEqual({
      error: { ...error, param: null, code: null },
    });
  });

  it('an upstream error without a message names the status', () => {
    const plain = { message: 'The provider answered 404.', type: 'upstream_error' };
    for (const body of ['<html>', '', '{"error":7}', '{"error":{"message":7}}', 'null']) {
      expect(translateError(Buffer.from(body), 404)).toEqual({
        error: { ...plain, param: null, code: null },
      });
    }
  });
});
