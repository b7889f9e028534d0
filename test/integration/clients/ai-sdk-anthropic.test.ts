import { createAnthropic } from '@ai-sdk/anthropic';
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { LocalEngines } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Json } from '../../../src/kernel/json.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { messageOf } from '../../support/anthropic-upstream.ts';
import { anthropicWorld, MODEL } from '../../support/anthropic-world.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { messageEvent, STREAM, streamed } from '../../support/message-events.ts';
import { messagesWorld } from '../../support/messages-world.ts';
import {
  DONE,
  toolCallEvents,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';

/** As its README sets the provider up; its base URL ends in `/v1`, unlike that of Anthropic's own SDK. */
const provider = (baseURL: string) => createAnthropic({ apiKey: AGENT_KEY, baseURL });

/** It warns of every model whose name is not one of Anthropic's. */
beforeAll(() => {
  globalThis.AI_SDK_LOG_WARNINGS = false;
});

const tools = {
  weather: tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `fine in ${city}`,
  }),
};
const TOLD = { text: 'It is fine.', results: [{ output: 'fine in Rome' }] };
const USE = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Rome' } };
const PICTURE = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
const pictured = [
  {
    role: 'user' as const,
    content: [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image' as const, image: PICTURE, mediaType: 'image/png' },
    ],
  },
];
const DATA = Buffer.from(PICTURE).toString('base64');

const USE_STREAM = [
  ...STREAM.slice(0, 2),
  messageEvent('content_block_start', { index: 0, content_block: { ...USE, input: {} } }),
  ...['{"city":', '"Rome"}'].map((partial_json) =>
    messageEvent('content_block_delta', {
      index: 0,
      delta: { type: 'input_json_delta', partial_json },
    }),
  ),
  messageEvent('content_block_stop', { index: 0 }),
  messageEvent('message_delta', {
    delta: { stop_reason: 'tool_use' },
    usage: { output_tokens: 400 },
  }),
  messageEvent('message_stop'),
];

describe('the AI SDK with its Anthropic provider over an upstream of that dialect', () => {
  it('the AI SDK’s Anthropic provider gets text, usage and receipt from an Anthropic upstream, whole and streamed', async () => {
    await using w = await anthropicWorld();
    const model = provider(w.gateway.baseUrl)(MODEL);
    const whole = await generateText({ model, prompt: 'Good morning?', maxOutputTokens: 1_000 });
    expect([whole.text, whole.finishReason]).toEqual(['Good morning.', 'stop']);
    expect(whole.usage).toMatchObject({ inputTokens: 1_200, outputTokens: 400 });
    expect(whole.response.headers?.['x-svc-cost-usdc']).toBe('3360');
    w.upstream.replies.push(streamed(STREAM));
    const answer = streamText({ model, prompt: 'Good morning?' });
    const words: string[] = [];
    for await (const word of answer.textStream) words.push(word);
    expect(words).toEqual(['Good ', 'morning.']);
    expect(await answer.usage).toMatchObject({ inputTokens: 1_200, outputTokens: 400 });
    expect(w.upstream.seen.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages']);
    expect(w.ledger.consumedRaw(1)).toBe(6_720n);
    await w.balanced();
  });

  it('the AI SDK’s Anthropic provider calls tools of an Anthropic upstream and sends their results, whole and streamed', async () => {
    await using w = await anthropicWorld();
    const wanted = {
      model: provider(w.gateway.baseUrl)(MODEL),
      prompt: 'Rome?',
      tools,
      stopWhen: stepCountIs(3),
    };
    const said = [{ type: 'text', text: TOLD.text }];
    w.upstream.replies.push(
      { body: messageOf([USE], { stop_reason: 'tool_use' }) },
      { body: messageOf(said) },
      streamed(USE_STREAM),
      streamed(STREAM),
    );
    const whole = await generateText(wanted);
    expect(whole.text).toBe(TOLD.text);
    expect(whole.steps[0]?.toolResults).toMatchObject(TOLD.results);
    const answer = streamText(wanted);
    expect(await answer.text).toBe('Good morning.');
    expect((await answer.steps)[0]?.toolResults).toMatchObject(TOLD.results);
    for (const at of [1, 3]) {
      const messages = w.upstream.seen[at]?.body.messages as Json[] | undefined;
      expect(messages?.slice(1)).toMatchObject([
        { role: 'assistant', content: [USE] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: USE.id }] },
      ]);
    }
    await w.balanced();
  });

  it('the AI SDK’s Anthropic provider has its output schema and its images relayed to an Anthropic upstream', async () => {
    await using w = await anthropicWorld();
    const model = provider(w.gateway.baseUrl)(MODEL);
    w.upstream.replies.push({ body: messageOf([{ type: 'text', text: '{"sum":5}' }]) });
    const { output } = await generateText({
      model,
      prompt: '2 + 3?',
      output: Output.object({ schema: z.object({ sum: z.number() }) }),
    });
    expect(output).toEqual({ sum: 5 });
    expect(w.upstream.seen.at(-1)?.body).toMatchObject({
      output_config: { format: { type: 'json_schema', schema: { required: ['sum'] } } },
    });
    await generateText({ model, messages: pictured });
    expect(w.upstream.seen.at(-1)?.body).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } },
          ],
        },
      ],
    });
    await w.balanced();
  });

  it('the AI SDK’s Anthropic provider throws our refusal as its own error with status and text, and is not charged', async () => {
    await using w = await anthropicWorld();
    const model = createAnthropic({ apiKey: `svc_${'0'.repeat(64)}`, baseURL: w.gateway.baseUrl })(
      MODEL,
    );
    const error = await generateText({ model, prompt: 'x' }).catch((e: unknown) => e);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ statusCode: 401, isRetryable: false });
    expect(w.ledger.consumedRaw(1)).toBe(0n);
  });
});

describe('the AI SDK with its Anthropic provider over an upstream of the OpenAI dialect', () => {
  const CALL = {
    id: 'call_1',
    type: 'function',
    function: { name: 'weather', arguments: '{"city":"Rome"}' },
  };
  const hasResult = ({ messages }: Json) =>
    (messages as { role: string }[]).some(({ role }) => role === 'tool');

  it('the AI SDK’s Anthropic provider calls tools of an OpenAI upstream and sends their results, whole and streamed', async () => {
    await using w = await messagesWorld();
    const model = provider(w.gateway.baseUrl)('acme/fast-1');
    w.upstream.play((body) => {
      const isOver = hasResult(body);
      if (body.stream !== true) {
        return wholeAnswer(isOver ? { content: TOLD.text } : { content: null, tool_calls: [CALL] });
      }
      const events = isOver ? wordEvents(['It is ', 'fine.']) : toolCallEvents(CALL);
      return { pieces: [...events, usageEvent(), DONE] };
    });
    const wanted = { model, prompt: 'Rome?', tools, stopWhen: stepCountIs(3) };
    const whole = await generateText(wanted);
    expect([whole.text, whole.finishReason]).toEqual([TOLD.text, 'stop']);
    expect(whole.steps[0]?.toolResults).toMatchObject(TOLD.results);
    expect(whole.totalUsage).toMatchObject({ inputTokens: 2_400, outputTokens: 800 });
    const answer = streamText(wanted);
    expect(await answer.text).toBe(TOLD.text);
    expect((await answer.steps)[0]?.toolResults).toMatchObject(TOLD.results);
    expect(await answer.totalUsage).toMatchObject({ inputTokens: 2_400, outputTokens: 800 });
    for (const at of [1, 3]) {
      const messages = w.upstream.seen[at]?.messages as Json[] | undefined;
      expect(messages?.slice(1)).toMatchObject([
        { role: 'assistant', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'call_1', content: 'fine in Rome' },
      ]);
    }
    await w.balanced();
  });

  it('the AI SDK’s Anthropic provider has its images and its output schema translated for an OpenAI upstream', async () => {
    await using w = await messagesWorld();
    const model = provider(w.gateway.baseUrl)('acme/fast-1');
    w.upstream.play(wholeAnswer({ content: 'A dot.' }));
    await generateText({ model, messages: pictured });
    expect(w.upstream.seen.at(-1)?.messages).toMatchObject([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${DATA}` } },
        ],
      },
    ]);
    w.upstream.play(({ tool_choice: choice }) => {
      if (choice === undefined) return wholeAnswer({ content: '{"sum":5}' });
      const called = { ...CALL, function: { name: 'json', arguments: '{"sum":5}' } };
      return wholeAnswer({ content: null, tool_calls: [called] });
    });
    const { output } = await generateText({
      model,
      prompt: '2 + 3?',
      output: Output.object({ schema: z.object({ sum: z.number() }) }),
    });
    expect(output).toEqual({ sum: 5 });
    await w.balanced();
  });
});

describe('the AI SDK with its Anthropic provider over the local guide', () => {
  let engines: LocalEngines;
  beforeAll(() => {
    engines = createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });
  });
  afterAll(() => engines[Symbol.asyncDispose]());

  it('the AI SDK’s Anthropic provider gets text, stream, forced tool call and object from local/guide', async () => {
    await using w = await messagesWorld(engines);
    const model = provider(w.gateway.baseUrl)('local/guide');
    const { text } = await generateText({ model, prompt: 'What is 2 + 3?' });
    expect(text).toContain('5');
    expect(await streamText({ model, prompt: 'What is 2 + 3?' }).text).toBe(text);
    const called = await generateText({
      model,
      prompt: 'The weather in "Oslo"?',
      tools,
      toolChoice: { type: 'tool', toolName: 'weather' },
    });
    expect(called.toolResults).toMatchObject([{ toolName: 'weather' }]);
    const { output } = await generateText({
      model,
      prompt: 'Rome',
      output: Output.object({ schema: z.object({ city: z.enum(['Rome']) }) }),
    });
    expect(output).toEqual({ city: 'Rome' });
    await w.balanced();
  });
});
