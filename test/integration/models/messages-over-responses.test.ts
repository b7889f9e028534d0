import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../../src/kernel/json.ts';
import { openAiWorld } from '../../support/openai-world.ts';

const WEATHER = {
  name: 'weather',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const messages = [{ role: 'user' as const, content: 'Good morning?' }];
const asked = { model: 'openai/gpt-6-luna', max_tokens: 1_000, messages };

/** Those whose vendor takes tools of a model that thinks over Responses alone. */
const THINKING = [
  'gpt-5.6-luna',
  'gpt-5.6-terra',
  'gpt-5.6-sol',
  'gpt-6-luna',
  'gpt-6-sol',
  'gpt-6-astra',
  'gpt-6.1-sol',
  'gpt-6.1-terra',
];

describe('Anthropic’s SDK, of OpenAI’s models', () => {
  it.each(THINKING)(
    'Anthropic’s SDK over OpenAI’s Responses calls tools of %s, and sends their results',
    async (name) => {
      await using w = await openAiWorld();
      const model = `openai/${name}`;
      const args = '{"city":"Oslo"}';
      w.upstream.play({
        items: [{ think: 'sealed' }, { say: ['Let me ', 'see.'] }, { call: 'weather', args }],
      });
      const params = { ...asked, model, tools: [WEATHER] };
      const called = await w.claude.messages.create(params);
      const call = { type: 'tool_use', id: 'call_12', name: 'weather', input: { city: 'Oslo' } };
      expect(called).toMatchObject({
        id: 'msg_up1',
        model,
        stop_reason: 'tool_use',
        content: [{ type: 'text', text: 'Let me see.' }, call],
        usage: { input_tokens: 1_200, output_tokens: 400 },
      });
      expect(await w.claude.messages.stream(params).finalMessage()).toMatchObject({
        id: 'msg_up2',
        model,
        stop_reason: 'tool_use',
        content: [
          { type: 'text', text: 'Let me see.' },
          { ...call, id: 'call_22' },
        ],
        usage: { output_tokens: 400 },
      });
      w.upstream.play({ items: [{ say: ['Rain.'] }], status: 'incomplete' });
      const answered = await w.claude.messages.create({
        ...params,
        tool_choice: { type: 'tool' as const, name: 'weather' },
        system: 'Be brief.',
        messages: [
          ...messages,
          { role: 'assistant', content: called.content },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'call_12', content: 'It rains.' }],
          },
        ],
      });
      expect(answered).toMatchObject({
        stop_reason: 'max_tokens',
        content: [{ type: 'text', text: 'Rain.' }],
      });
      const { input_schema: parameters } = WEATHER;
      expect(w.upstream.seen.at(-1)).toEqual({
        path: '/v1/responses',
        body: {
          model: name,
          max_output_tokens: 1_000,
          store: false,
          stream: false,
          tools: [{ type: 'function', name: 'weather', parameters, strict: false }],
          tool_choice: { type: 'function', name: 'weather' },
          input: [
            { type: 'message', role: 'system', content: 'Be brief.' },
            { type: 'message', role: 'user', content: 'Good morning?' },
            { type: 'message', role: 'assistant', content: 'Let me see.' },
            { type: 'function_call', call_id: 'call_12', name: 'weather', arguments: args },
            { type: 'function_call_output', call_id: 'call_12', output: 'It rains.' },
          ],
        },
      });
      await w.balanced();
    },
  );

  it('Anthropic’s SDK over OpenAI’s Responses sends the nearest effort, and none when thinking is disabled', async () => {
    await using w = await openAiWorld();
    const effortOf = async (name: string, more: object) => {
      await w.claude.messages.create({ ...asked, model: `openai/${name}`, ...more });
      return w.upstream.seen.at(-1)?.body.reasoning;
    };
    const max = { output_config: { effort: 'max' }, thinking: { type: 'adaptive' } };
    const off = { thinking: { type: 'disabled' }, tools: [WEATHER] };
    expect(await effortOf('gpt-6-luna', max)).toEqual({ effort: 'max' });
    expect(await effortOf('gpt-6-luna', off)).toEqual({ effort: 'none' });
    expect(await effortOf('gpt-6-luna', { tools: [WEATHER] })).toBeUndefined();
    expect(await effortOf('gpt-6.1-sol', off)).toBeUndefined();
    expect(await effortOf('gpt-6.1-sol', { ...max, ...off })).toEqual({ effort: 'max' });
    expect(await effortOf('gpt-4o', max)).toBeUndefined();
  });

  it('Anthropic’s SDK uses chat at OpenAI when Responses cannot serve: with stop sequences, or max_tokens of 1', async () => {
    await using w = await openAiWorld();
    const effort = { output_config: { effort: 'max' as const } };
    for (const more of [{ stop_sequences: ['END'] }, { max_tokens: 1 }]) {
      const { content } = await w.claude.messages.create({ ...asked, ...effort, ...more });
      expect(content).toEqual([{ type: 'text', text: 'Good morning.' }]);
      expect(w.upstream.seen.at(-1)?.path).toBe('/v1/chat/completions');
    }
    await w.balanced();
  });

  it('Anthropic’s SDK over OpenAI’s Responses parses an answer by a schema with an optional property', async () => {
    await using w = await openAiWorld();
    const format = zodOutputFormat(z.object({ a: z.string(), b: z.string().optional() }));
    w.upstream.play({ items: [{ say: ['{"a":"x"}'] }] });
    const told = await w.claude.messages.parse({ ...asked, output_config: { format } });
    expect(told.parsed_output).toEqual({ a: 'x' });
    const formatted = () => w.upstream.seen.at(-1)?.body.text;
    expect(formatted()).toMatchObject({ format: { name: 'answer', strict: false } });
    const closed = zodOutputFormat(z.object({ a: z.string(), b: z.string() }));
    await w.claude.messages.create({ ...asked, output_config: { format: closed } });
    expect(formatted()).toMatchObject({ format: { name: 'answer', strict: true } });
  });

  it('a Messages stream over OpenAI’s Responses breaks off with the upstream’s error when the response fails', async () => {
    await using w = await openAiWorld();
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' };
    w.upstream.play({ items: [{ say: ['Let me'] }], status: 'failed', more: { error } });
    const response = await w.gateway.request('/messages', { body: { ...asked, stream: true } });
    const events = (await response.text()).trim().split('\n\n');
    const last = JSON.parse(events.at(-1)?.split('data: ')[1] ?? '') as Json;
    expect(last.error).toMatchObject({ type: 'rate_limit_error', code: 'upstream_broke_off' });
    expect(events.join('\n')).not.toContain('message_stop');
    await w.balanced();
  });
});
