import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, Output, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { LocalEngines } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { LOCAL_MODELS } from '../../../src/models/catalogue/builtin/local.ts';
import { createLocalGuideRail } from '../../../src/models/providers/local/local-guide.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { AGENT_KEY, type GatewayWorld, gatewayWorld } from '../../support/gateway-world.ts';

const AGENT = 1;
const model = 'local/guide';
const QUESTION = 'What is the weather in Paris tomorrow, in celsius, for 3 days?';
const messages = [{ role: 'user' as const, content: QUESTION }];
const Weather = z.strictObject({
  city: z.string().min(1),
  unit: z.enum(['fahrenheit', 'celsius']),
  days: z.number().int().min(1).max(14),
  date: z.iso.date(),
  alert: z.email().nullable(),
});
const Report = z.strictObject({
  id: z.uuid(),
  city: z.string(),
  tags: z.array(z.string().min(3)).min(2),
  at: z.iso.datetime(),
  kind: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('rain'), mm: z.number().positive() }),
    z.strictObject({ type: z.literal('sun'), hours: z.number().int() }),
  ]),
});
const EXPECTED = { city: 'Paris', unit: 'celsius', days: 3 };

let engines: LocalEngines;
let gateway: GatewayWorld;
let openai: OpenAI;
const ledger = createFakeLedger();

beforeAll(async () => {
  engines = createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });
  await ledger.credit({ agentId: AGENT, amountRaw: 10n ** 12n, reference: 'start' });
  gateway = await gatewayWorld({
    ledger,
    providers: { local: { baseUrl: null, dialect: 'local' } },
    models: LOCAL_MODELS,
    localGuide: createLocalGuideRail({
      guide: engines.guide,
      clock: systemClock,
      random: systemRandom,
      callerFacts: async () => ({ agentName: 'a', spendableRaw: 1n, heldRaw: 0n, spentRaw: 0n }),
    }),
  });
  openai = new OpenAI({ apiKey: AGENT_KEY, baseURL: gateway.baseUrl, maxRetries: 0 });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
});

const aiModel = () =>
  createOpenAICompatible({
    name: 'svc',
    baseURL: gateway.baseUrl,
    apiKey: AGENT_KEY,
    supportsStructuredOutputs: true,
  })(model);

describe('local/guide with the openai client', () => {
  it('local/guide with the openai client runs a tool whose arguments fit its schema, and answers with its result', async () => {
    for (const stream of [false, true]) {
      const given: unknown[] = [];
      const tools = [
        zodFunction({
          name: 'get_weather',
          description: 'Weather of a city',
          parameters: Weather,
          function(args) {
            given.push(Weather.parse(args));
            return { sky: 'clear', high: 21 };
          },
        }),
      ];
      const wanted = { model, messages, tools };
      const runner = stream
        ? openai.chat.completions.runTools({ ...wanted, stream: true })
        : openai.chat.completions.runTools(wanted);
      expect(await runner.finalContent()).toBe('The tool answered: sky is clear, high is 21.');
      expect(given).toEqual([expect.objectContaining({ ...EXPECTED, alert: null })]);
    }
  });

  it('local/guide with the openai client answers by a schema, whole and streamed, and as any object', async () => {
    const wanted = { model, messages, response_format: zodResponseFormat(Report, 'report') };
    const whole = await openai.chat.completions.parse(wanted);
    expect(whole.choices[0]?.message.parsed).toMatchObject({ city: 'Paris' });
    const streamed = await openai.chat.completions.stream(wanted).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(whole.choices[0]?.message.parsed);
    const { choices } = await openai.chat.completions.create({
      model,
      messages,
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(choices[0]?.message.content ?? '')).toHaveProperty('answer');
  });

  it('local/guide with the openai client calls what tool_choice names, and answers n times, each charged', async () => {
    const tools = ['first', 'second'].map((name) => ({
      type: 'function' as const,
      function: { name, parameters: {} },
    }));
    const called = async (tool_choice: OpenAI.ChatCompletionToolChoiceOption) => {
      const { choices } = await openai.chat.completions.create({
        model,
        messages,
        tools,
        tool_choice,
      });
      const [call] = choices[0]?.message.tool_calls ?? [];
      return call?.type === 'function' ? call.function.name : undefined;
    };
    expect(await called('required')).toBe('first');
    expect(await called({ type: 'function', function: { name: 'second' } })).toBe('second');
    expect(await called('none')).toBeUndefined();
    const one = await openai.chat.completions.create({ model, messages });
    const three = await openai.chat.completions.create({ model, messages, n: 3 });
    expect(three.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(three.usage?.completion_tokens).toBe(3 * (one.usage?.completion_tokens ?? 0));
  });

  it('local/guide refuses a member that it cannot honour by its name, at no cost', async () => {
    const before = ledger.consumedRaw(AGENT);
    const parameters = { type: 'object', properties: { a: false }, required: ['a'] };
    const tools = [{ type: 'function', function: { name: 'x', parameters } }];
    const schema = { name: 'x', schema: { type: 'string', minLength: 9, maxLength: 1 } };
    const cases: [string, object][] = [
      ['tools.0.function.parameters', { tools, tool_choice: 'required' }],
      [
        'response_format.json_schema.schema',
        { response_format: { type: 'json_schema', json_schema: schema } },
      ],
      ['logprobs', { logprobs: true }],
      ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
      ['stop', { stop: '' }],
      ['stop', { stop: Array(17).fill('x') }],
      ['messages.0.role', { messages: [{ role: 'wizard', content: 'x' }] }],
    ];
    for (const [param, more] of cases) {
      const response = await gateway.request('/chat/completions', {
        body: { model, messages, ...more },
      });
      expect([param, response.status]).toEqual([param, 400]);
      expect(await response.json()).toMatchObject({
        error: { type: 'invalid_request_error', code: 'invalid_request', param },
      });
    }
    expect(ledger.consumedRaw(AGENT)).toBe(before);
    expect(ledger.openHolds()).toBe(0);
  });
});

describe('local/guide with the AI SDK', () => {
  it('local/guide with the AI SDK ends a tool loop with the text of the result, whole and streamed', async () => {
    const given: unknown[] = [];
    const tools = {
      get_weather: tool({
        description: 'Weather of a city',
        inputSchema: Weather,
        async execute(input) {
          given.push(input);
          return `fine in ${input.city}`;
        },
      }),
    };
    const wanted = { model: aiModel(), prompt: QUESTION, tools, stopWhen: stepCountIs(4) };
    const whole = await generateText(wanted);
    expect([whole.text, whole.steps.length]).toEqual(['The tool answered: fine in Paris.', 2]);
    const streamed = streamText(wanted);
    expect(await streamed.text).toBe(whole.text);
    expect(given).toEqual(Array(2).fill(expect.objectContaining(EXPECTED)));
  });

  it('local/guide with the AI SDK returns an object by its schema', async () => {
    const { output } = await generateText({
      model: aiModel(),
      prompt: QUESTION,
      output: Output.object({ schema: Report }),
    });
    expect(output).toMatchObject({ city: 'Paris' });
  });
});
