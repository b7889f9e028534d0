import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalEngines } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { LOCAL_MODELS } from '../../../src/models/catalogue/builtin/local.ts';
import { createLocalGuideRail } from '../../../src/models/providers/local/local-guide.ts';
import { thrownBy } from '../../support/counted-openai.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { responsesWorld } from '../../support/responses-world.ts';

const model = 'local/guide';
let engines: LocalEngines;
let database: TestDatabase;
let world: Awaited<ReturnType<typeof responsesWorld>>;
beforeAll(async () => {
  const shared = { clock: systemClock, random: systemRandom, log: silentLog };
  engines = createLocalEngines(shared);
  database = await testDatabase();
  const facts = { agentName: 'scout', spendableRaw: 1_250_000n, heldRaw: 0n, spentRaw: 0n };
  const localGuide = createLocalGuideRail({
    ...shared,
    guide: engines.guide,
    callerFacts: async () => facts,
  });
  world = await responsesWorld({
    sql: database.sql,
    localGuide,
    models: LOCAL_MODELS,
    providers: { local: { baseUrl: null, dialect: 'local' } },
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await engines[Symbol.asyncDispose]();
});

describe('responses of local/guide', () => {
  it('local/guide answers responses whole and streamed alike, word by word, and continues a conversation', async () => {
    const { responses } = world.gateway.openai;
    const whole = await responses.create({ model, input: 'What is 2 + 3?' });
    expect(whole.output_text).toContain('5');
    const deltas: string[] = [];
    const runner = responses.stream({ model, input: 'What is 2 + 3?' });
    runner.on('response.output_text.delta', ({ delta }) => deltas.push(delta));
    const streamed = await runner.finalResponse();
    expect(streamed.output_text).toBe(whole.output_text);
    expect(deltas.join('')).toBe(whole.output_text);
    expect(streamed.usage).toEqual(whole.usage);
    const more = await responses.create({
      model,
      previous_response_id: whole.id,
      input: 'What is my balance?',
    });
    expect(more.output_text).toContain('1.25');
    const usage = more.usage?.input_tokens ?? 0;
    expect(usage).toBeGreaterThan(whole.usage?.input_tokens ?? 0);
  });

  it('local/guide calls the one required function of a response request, and follows its schema', async () => {
    const { responses } = world.gateway.openai;
    const parameters = {
      type: 'object',
      properties: { city: { type: 'string', enum: ['Rome'] } },
      required: ['city'],
      additionalProperties: false,
    };
    const called = await responses.create({
      model,
      input: 'The weather in Rome?',
      tool_choice: 'required',
      tools: [{ type: 'function', name: 'weather', parameters, strict: true }],
    });
    const [item] = called.output;
    expect(item).toMatchObject({ type: 'function_call', name: 'weather' });
    expect(JSON.parse(item?.type === 'function_call' ? item.arguments : '')).toEqual({
      city: 'Rome',
    });
    const format = {
      type: 'json_schema' as const,
      name: 'place',
      schema: parameters,
      strict: true,
    };
    const shaped = await responses.create({ model, input: 'Rome', text: { format } });
    expect(JSON.parse(shaped.output_text)).toEqual({ city: 'Rome' });
  });

  it('local/guide refuses an unsupported response feature by the name of its request field', async () => {
    const { responses } = world.gateway.openai;
    const bad = responses.create({
      model,
      input: 'x',
      text: { format: { type: 'json_schema', name: 's', schema: { type: 'nothing' } } },
    });
    expect(await thrownBy(bad)).toMatchObject({
      status: 400,
      param: expect.stringMatching(/^text\.format/),
    });
    const search = responses.create({ model, input: 'x', tools: [{ type: 'web_search' }] });
    expect(await thrownBy(search)).toMatchObject({ status: 400, param: 'tools[0]' });
  });
});
