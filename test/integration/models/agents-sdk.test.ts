import { createOpenAI } from '@ai-sdk/openai';
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { tool as aiTool, generateText, Output, stepCountIs, streamText } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import type { ToldItem } from '../../support/responses-upstream.ts';
import { CHAT_MODEL, OWN_MODEL, responsesWorld } from '../../support/responses-world.ts';
import {
  DONE,
  toolCallEvents,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';

let database: TestDatabase;
let world: Awaited<ReturnType<typeof responsesWorld>>;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  world = await responsesWorld({ sql: database.sql });
  return () => world[Symbol.asyncDispose]();
});

type Turn = { readonly call: string; readonly args: string } | { readonly say: string };

/** What the upstream of either kind says, turn by turn. */
function play(turns: readonly Turn[]) {
  let turn = 0;
  const next = () => turns[turn++] ?? { say: 'no more' };
  world.own.play(() => {
    const told = next();
    const items: ToldItem[] = 'say' in told ? [{ say: [told.say] }] : [told];
    return { items };
  });
  world.chat.play(({ stream }) => {
    const told = next();
    const call = {
      id: `call_${turn}`,
      type: 'function',
      function:
        'call' in told ? { name: told.call, arguments: told.args } : { name: '', arguments: '' },
    };
    if (stream !== true) {
      return wholeAnswer(
        'say' in told ? { content: told.say } : { content: null, tool_calls: [call] },
      );
    }
    const events = 'say' in told ? wordEvents([told.say]) : toolCallEvents(call);
    return { pieces: [...events, usageEvent(), DONE] };
  });
}

const MODELS = [
  ['an upstream that speaks chat', CHAT_MODEL],
  ['an upstream that speaks Responses', OWN_MODEL],
] as const;

describe.each(MODELS)('the Agents SDK over %s', (_, model) => {
  const weather = tool({
    name: 'weather',
    description: 'The weather of a place.',
    parameters: z.object({ at: z.string() }),
    execute: async ({ at }) => `fine in ${at}`,
  });
  const guide = new Agent({ name: 'Guide', model, instructions: 'You guide.', tools: [weather] });
  const desk = new Agent({ name: 'Desk', model, instructions: 'You greet.', handoffs: [guide] });
  const turns: Turn[] = [
    { call: 'transfer_to_Guide', args: '{}' },
    { call: 'weather', args: '{"at":"Rome"}' },
    { say: 'It is fine.' },
  ];
  const runner = () =>
    new Runner({
      modelProvider: new OpenAIProvider({
        apiKey: AGENT_KEY,
        baseURL: world.gateway.baseUrl,
        useResponses: true,
      }),
      tracingDisabled: true,
    });

  it('the Agents SDK hands over to another agent, which calls a tool and answers', async () => {
    play(turns);
    const result = await runner().run(desk, 'Rome?');
    expect(result.finalOutput).toBe('It is fine.');
    expect(result.lastAgent?.name).toBe('Guide');
    expect(result.lastResponseId).toMatch(/^resp_/);
    expect(await world.charged()).toBeGreaterThan(0n);
  });

  it('the Agents SDK hands over while it streams, and continues the stored conversation', async () => {
    play(turns);
    const streamed = await runner().run(desk, 'Rome?', { stream: true });
    let text = '';
    for await (const chunk of streamed.toTextStream()) text += chunk;
    await streamed.completed;
    expect([text, streamed.finalOutput]).toEqual(['It is fine.', 'It is fine.']);
    play([{ say: 'Yes.' }]);
    const more = await runner().run(guide, 'Really?', {
      previousResponseId: streamed.lastResponseId ?? '',
    });
    expect(more.finalOutput).toBe('Yes.');
    const asked = model === CHAT_MODEL ? world.chat.seen.at(-1) : world.own.seen.at(-1)?.body;
    const told = asked?.[model === CHAT_MODEL ? 'messages' : 'input'] as unknown[];
    expect(JSON.stringify(told)).toMatch(/Rome\?.*fine in Rome.*It is fine\..*Really\?/);
  });
});

describe.each(MODELS)('the AI SDK with its OpenAI provider over %s', (_, model) => {
  const chosen = () => createOpenAI({ apiKey: AGENT_KEY, baseURL: world.gateway.baseUrl })(model);
  const tools = {
    weather: aiTool({
      inputSchema: z.object({ at: z.string() }),
      execute: async ({ at }) => `fine in ${at}`,
    }),
  };
  const turns: Turn[] = [{ call: 'weather', args: '{"at":"Rome"}' }, { say: 'It is fine.' }];

  it('the AI SDK’s OpenAI provider calls tools and sends their results back, whole and streamed', async () => {
    const wanted = { model: chosen(), prompt: 'Rome?', tools, stopWhen: stepCountIs(3) };
    play(turns);
    const whole = await generateText(wanted);
    expect(whole.text).toBe('It is fine.');
    expect(whole.steps[0]?.toolResults).toMatchObject([{ output: 'fine in Rome' }]);
    play(turns);
    const streamed = streamText(wanted);
    expect(await streamed.text).toBe('It is fine.');
    expect(await streamed.finishReason).toBe('stop');
    expect((await streamed.steps)[0]?.toolCalls).toMatchObject([
      { toolName: 'weather', input: { at: 'Rome' } },
    ]);
    expect((await streamed.totalUsage).inputTokens).toBeGreaterThan(0);
    expect(await world.charged()).toBeGreaterThan(0n);
  });

  it('the AI SDK’s OpenAI provider sends its schema, and parses the answer by it', async () => {
    play([{ say: '{"sum":5}' }]);
    const { output } = await generateText({
      model: chosen(),
      prompt: '2 + 3?',
      output: Output.object({ schema: z.object({ sum: z.number() }) }),
    });
    expect(output).toEqual({ sum: 5 });
  });

  it('the AI SDK’s OpenAI provider continues a conversation that it sends by item reference', async () => {
    play([{ say: 'Hello.' }, { say: 'Again.' }]);
    const first = await generateText({ model: chosen(), prompt: 'Hi.' });
    const { text } = await generateText({
      model: chosen(),
      messages: [
        { role: 'user', content: 'Hi.' },
        ...first.response.messages,
        { role: 'user', content: 'And?' },
      ],
    });
    expect(text).toBe('Again.');
  });
});
