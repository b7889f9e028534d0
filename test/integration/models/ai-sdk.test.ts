import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, Output, RetryError, stepCountIs, streamText, tool } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import {
  DONE,
  toolCallEvents,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';
import { type StreamWorld, streamWorld } from '../../support/stream-world.ts';

/** 1,200 tokens at 2.5 and 400 at 10, with five per cent. */
const METERED_RAW = 7_350n;
/** As long as 1,200 tokens are at least: an upstream is believed as far as its request can have come to. */
const PROMPT = 'Good morning?'.padEnd(1_300, '.');
const PENNILESS = `svc_${'d'.repeat(64)}`;
const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"at":"Rome"}' },
};
const tools = {
  weather: tool({
    inputSchema: z.object({ at: z.string() }),
    execute: async ({ at }) => `fine in ${at}`,
  }),
};

let charged: StreamWorld['charged'];
let gateway: StreamWorld['gateway'];
let ledger: StreamWorld['ledger'];
let upstream: StreamWorld['upstream'];

beforeEach(async () => {
  const world = await streamWorld({
    credits: new Map([[2, 1n]]),
    others: new Map([[PENNILESS, { agentId: 2, keyId: 2 }]]),
  });
  ({ charged, gateway, ledger, upstream } = world);
  return () => world[Symbol.asyncDispose]();
});

/** The provider as its README sets it up, with a count of what it sends. */
function provider(apiKey = AGENT_KEY) {
  const sent: string[] = [];
  const made = createOpenAICompatible({
    name: 'svc',
    baseURL: gateway.baseUrl,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch: (input, init) => {
      sent.push(String(input));
      return fetch(input, init);
    },
  });
  return { sent, model: (id = 'acme/fast-1') => made(id) };
}

const hasResult = ({ messages }: Record<string, unknown>) =>
  (messages as { role: string }[]).some(({ role }) => role === 'tool');

describe('the AI SDK with its OpenAI-compatible provider', () => {
  it('the AI SDK’s generateText returns the text, the usage and the receipt', async () => {
    upstream.play(wholeAnswer({ content: 'Good morning.' }));
    const { model, sent } = provider();
    const { text, usage, finishReason, response } = await generateText({
      model: model(),
      prompt: PROMPT,
      maxOutputTokens: 500,
      temperature: 0.2,
    });
    expect([text, finishReason]).toEqual(['Good morning.', 'stop']);
    expect(usage).toMatchObject({ inputTokens: 1_200, outputTokens: 400, totalTokens: 1_600 });
    expect(response.headers?.['x-svc-cost-usdc']).toBe(String(METERED_RAW));
    expect(upstream.seen.at(-1)).toMatchObject({
      model: 'vendor',
      max_tokens: 500,
      temperature: 0.2,
    });
    expect(sent).toEqual([`${gateway.baseUrl}/chat/completions`]);
    expect(await charged()).toBe(METERED_RAW);
  });

  it('the AI SDK’s streamText yields the text as it arrives, and the usage at its end', async () => {
    upstream.play({ pieces: [...wordEvents(['Good ', 'morning', '.']), usageEvent(), DONE] });
    const answer = streamText({ model: provider().model(), prompt: 'Good morning?' });
    const words: string[] = [];
    for await (const word of answer.textStream) words.push(word);
    expect(words).toEqual(['Good ', 'morning', '.']);
    expect(await answer.finishReason).toBe('stop');
    expect(await answer.usage).toMatchObject({ inputTokens: 1_200, outputTokens: 400 });
    expect((await answer.response).headers?.['x-svc-model']).toBe('acme/fast-1');
    expect(await charged()).toBe(METERED_RAW);
  });

  it('the AI SDK’s compatible provider calls tools and sends their results back, whole and streamed', async () => {
    const from = upstream.seen.length;
    const wanted = { model: provider().model(), prompt: 'Rome?', tools, stopWhen: stepCountIs(3) };
    upstream.play((body) =>
      wholeAnswer(
        hasResult(body) ? { content: 'It is fine.' } : { content: null, tool_calls: [CALL] },
      ),
    );
    const whole = await generateText(wanted);
    expect(whole.text).toBe('It is fine.');
    expect(whole.steps[0]?.toolResults).toMatchObject([{ output: 'fine in Rome' }]);
    upstream.play((body) => ({
      pieces: [
        ...(hasResult(body) ? wordEvents(['It is fine.']) : toolCallEvents(CALL)),
        usageEvent(),
        DONE,
      ],
    }));
    const streamed = streamText(wanted);
    expect(await streamed.text).toBe('It is fine.');
    expect((await streamed.steps)[0]?.toolCalls).toMatchObject([
      { toolName: 'weather', input: { at: 'Rome' } },
    ]);
    for (const i of [1, 3]) {
      expect(upstream.seen[from + i]?.messages).toMatchObject([
        { role: 'user' },
        { role: 'assistant', tool_calls: [CALL] },
        { role: 'tool', tool_call_id: 'call_1' },
      ]);
    }
    expect(await charged()).toBe(4n * METERED_RAW);
  });

  it('the AI SDK’s compatible provider sends its schema, and parses the answer by it', async () => {
    upstream.play(wholeAnswer({ content: '{"sum":5}' }));
    const { output } = await generateText({
      model: provider().model(),
      prompt: '2 + 3?',
      output: Output.object({ schema: z.object({ sum: z.number() }) }),
    });
    expect(output).toEqual({ sum: 5 });
    expect(upstream.seen.at(-1)?.response_format).toMatchObject({ type: 'json_schema' });
  });
});

describe('a refusal that the AI SDK is told', () => {
  it('the AI SDK throws the refusal of an empty balance as its own error with our text, after one request', async () => {
    const { model, sent } = provider(PENNILESS);
    const error = await generateText({ model: model(), prompt: 'x' }).catch((e: unknown) => e);
    expect(APICallError.isInstance(error) && error).toMatchObject({
      statusCode: 402,
      isRetryable: false,
      data: { error: { code: 'budget_exhausted', type: 'insufficient_quota' } },
    });
    const streamed: unknown[] = [];
    await streamText({
      model: model(),
      prompt: 'x',
      onError: ({ error: told }) => {
        streamed.push(told);
      },
    }).consumeStream();
    expect(streamed).toMatchObject([{ statusCode: 402 }]);
    expect(sent).toHaveLength(2);
    expect(ledger.charges).toEqual([]);
  });

  it('the AI SDK throws an unknown model as its own error with status 404', async () => {
    const call = generateText({ model: provider().model('acme/none'), prompt: 'x' });
    const error = await call.catch((told: unknown) => told);
    expect(APICallError.isInstance(error) && error.statusCode).toBe(404);
  });

  it('the AI SDK retries when all sources fail, and is charged nothing', async () => {
    upstream.play({ status: 500, pieces: ['{}'], headers: { 'content-type': 'application/json' } });
    const { model, sent } = provider();
    const call = generateText({ model: model(), prompt: 'x', maxRetries: 1 });
    const error = await call.catch((told: unknown) => told);
    expect(RetryError.isInstance(error) && error.lastError).toMatchObject({ statusCode: 502 });
    expect(sent).toHaveLength(2);
    expect(await charged()).toBe(0n);
  });

  it('the AI SDK reports an error in the middle of a stream after the text that arrived', async () => {
    upstream.play({ pieces: wordEvents(['Good ', 'morning']).slice(0, 3), ends: 'cut' });
    const errors: unknown[] = [];
    const answer = streamText({
      model: provider().model(),
      prompt: 'x',
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    let text = '';
    for await (const word of answer.textStream) text += word;
    expect(text).toBe('Good morning');
    expect(errors).toHaveLength(1);
    expect(await charged()).toBeGreaterThan(0n);
  });

  it('an aborted AI SDK stream stops the upstream call, and is charged for what arrived', async () => {
    upstream.play({ pieces: wordEvents(['Good ']), ends: 'hang' });
    const from = upstream.abandoned.count;
    const leaving = new AbortController();
    const answer = streamText({
      model: provider().model(),
      prompt: 'x',
      abortSignal: leaving.signal,
    });
    for await (const _ of answer.textStream) leaving.abort();
    await expect.poll(() => upstream.abandoned.count).toBe(from + 1);
    expect(await charged()).toBeGreaterThan(0n);
  });
});
