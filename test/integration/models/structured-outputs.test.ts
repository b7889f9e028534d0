import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { messageOf } from '../../support/anthropic-upstream.ts';
import { anthropicWorld, MODEL, messages } from '../../support/anthropic-world.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';

/** Schemas of OpenAI's clients bind the answers of models behind the Messages dialect, which refuses what it cannot promise. */

const Sum = z.object({ sum: z.number(), parts: z.array(z.object({ at: z.number() })) });
const TOLD = { sum: 5, parts: [{ at: 1 }] };
const format = {
  type: 'json_schema',
  schema: expect.objectContaining({
    type: 'object',
    required: ['sum', 'parts'],
    additionalProperties: false,
  }),
};
const says = (value: unknown) => ({
  body: messageOf([{ type: 'text', text: JSON.stringify(value) }]),
});

let world: Awaited<ReturnType<typeof anthropicWorld>>;
beforeEach(async () => {
  world = await anthropicWorld();
  world.upstream.replies.push(says(TOLD));
  return () => world[Symbol.asyncDispose]();
});
const sent = () => world.upstream.seen.map(({ body }) => body);

describe('an answer by a schema', () => {
  it('the openai client’s chat parse reads Claude’s answer by a schema', async () => {
    const { choices } = await world.gateway.openai.chat.completions.parse({
      model: MODEL,
      messages,
      response_format: zodResponseFormat(Sum, 'sum'),
    });
    expect(choices[0]?.message.parsed).toEqual(TOLD);
    expect(sent()).toMatchObject([{ output_config: { format } }]);
    await world.balanced();
  });

  it('the openai client’s responses parse reads Claude’s answer by a schema', async () => {
    const { output_parsed: parsed } = await world.gateway.openai.responses.parse({
      model: MODEL,
      input: '2 + 3?',
      text: { format: zodTextFormat(Sum, 'sum') },
    });
    expect(parsed).toEqual(TOLD);
    expect(sent()).toMatchObject([{ output_config: { format } }]);
    await world.balanced();
  });

  it('the Agents SDK reads Claude’s final output by its type, and its tools are strict', async () => {
    const add = tool({
      name: 'add',
      description: 'Adds.',
      parameters: z.object({ a: z.number() }),
      execute: async ({ a }) => `${a + 1}`,
    });
    const agent = new Agent({ name: 'Sums', model: MODEL, outputType: Sum, tools: [add] });
    const use = { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 4 } };
    world.upstream.replies.unshift({ body: messageOf([use], { stop_reason: 'tool_use' }) });
    const modelProvider = new OpenAIProvider({
      apiKey: AGENT_KEY,
      baseURL: world.gateway.baseUrl,
      useResponses: true,
    });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const { finalOutput } = await runner.run(agent, '2 + 3?');
    expect(finalOutput).toEqual(TOLD);
    expect(sent()).toMatchObject(
      [1, 2].map(() => ({ output_config: { format }, tools: [{ name: 'add', strict: true }] })),
    );
    await world.balanced();
  });

  it('an answer format without a schema is refused by the caller’s own field name', async () => {
    const respond = async (asked: object) => {
      const body = { model: MODEL, input: 'x', text: { format: asked } };
      const answer = await world.gateway.request('/responses', { body });
      return [answer.status, await answer.json()];
    };
    expect(await respond({ type: 'json_schema', name: 'x' })).toMatchObject([
      400,
      { error: { param: 'text.format.schema' } },
    ]);
    expect(sent()).toEqual([]);
  });
});

describe('a wish for effort', () => {
  it('a requested effort is sent to models that accept it, and left out for those that refuse it', async () => {
    for (const model of ['anthropic/claude-sonnet-5', 'anthropic/claude-haiku-4-5']) {
      expect((await world.chat({ model, reasoning_effort: 'minimal' })).status).toBe(200);
    }
    expect(sent().map(({ output_config }) => output_config)).toEqual([
      { effort: 'low' },
      undefined,
    ]);
    await world.balanced();
  });

  it('a requested effort is sent with the caller’s own key as well', async () => {
    const own = { 'x-svc-provider-key': 'sk-ant-upstream' };
    const asked = { model: 'anthropic/claude-sonnet-5', reasoning_effort: 'xhigh' };
    expect((await world.chat(asked, own)).status).toBe(200);
    expect(sent()).toMatchObject([{ output_config: { effort: 'xhigh' } }]);
    await world.balanced();
  });
});

it('a PDF in a response request is sent to Claude as a document with its file name', async () => {
  const data = Buffer.from('%PDF-1.7').toString('base64');
  const file = { type: 'input_file', filename: 'a.pdf' } as const;
  await world.gateway.openai.responses.create({
    model: MODEL,
    input: [
      {
        role: 'user',
        content: [{ ...file, file_data: `data:application/pdf;base64,${data}` }],
      },
    ],
  });
  const source = { type: 'base64', media_type: 'application/pdf', data };
  expect(sent()).toMatchObject([
    { messages: [{ role: 'user', content: [{ type: 'document', title: 'a.pdf', source }] }] },
  ]);
  await world.balanced();
});
