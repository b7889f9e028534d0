import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { moneyOf, startWorld, type WholeWorld } from '../support/whole-world.ts';

const model = 'local/use-lite';
const input = ['How old are you?', 'What is your age?', 'The river is cold.'];

let world: WholeWorld;
let agent: FundedAgent;
let openai: OpenAI;
beforeAll(async () => {
  world = await startWorld();
  agent = await world.fund('reader');
  openai = new OpenAI({ apiKey: agent.agentKey, baseURL: `${world.url}/v1` });
});
afterAll(() => world[Symbol.asyncDispose]());

const dot = (a: readonly number[] = [], b: readonly number[] = []) =>
  a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

describe('local/use-lite on the running server, asked by the openai client', () => {
  it('local/use-lite embeds similar texts near each other, and header, ledger and charge show the same price', async () => {
    const before = await moneyOf(world.sql, agent.agentId);
    const { data: list, response } = await openai.embeddings
      .create({ model, input })
      .withResponse();
    const [age, years, river] = list.data.map(({ embedding }) => embedding);
    expect(age).toHaveLength(512);
    expect(dot(age, age)).toBeCloseTo(1, 4);
    expect(dot(age, years)).toBeGreaterThan(dot(age, river) + 0.2);
    expect(list.usage).toEqual({ prompt_tokens: 14, total_tokens: 14 });

    const cost = BigInt(response.headers.get('x-svc-cost-usdc') ?? '-1');
    const after = await moneyOf(world.sql, agent.agentId);
    expect(cost).toBeGreaterThan(0n);
    expect(before.spendable - after.spendable).toBe(cost);
    expect(after.charged - before.charged).toBe(cost);
    expect(after.held).toBe(0n);
  });

  it('local/use-lite returns the same vectors as numbers and as base64', async () => {
    const [text = ''] = input;
    const plain = await openai.embeddings.create({ model, input: text });
    const floats = await openai.embeddings.create({
      model,
      input: text,
      encoding_format: 'float',
      dimensions: 512,
    });
    expect(floats.data).toEqual(plain.data);
    const raw = await openai.embeddings.create({ model, input: text, encoding_format: 'base64' });
    expect(raw.data[0]?.embedding).toBeTypeOf('string');
  });

  it('local/use-lite returns vectors of the requested size, and takes tokens as well as text', async () => {
    const [text = ''] = input;
    const whole = await openai.embeddings.create({ model, input: text });
    const short = await openai.embeddings.create({ model, input: text, dimensions: 64 });
    const [vector, cut] = [whole, short].map(({ data }) => data[0]?.embedding ?? []);
    expect(cut).toHaveLength(64);
    expect(dot(cut, cut)).toBeCloseTo(1, 4);
    const first = vector?.slice(0, 64);
    expect(dot(cut, first) ** 2).toBeCloseTo(dot(first, first), 4);
    const tokens = encode(text);
    const told = await openai.embeddings.create({ model, input: [tokens] });
    expect(told.data).toEqual(whole.data);
    expect(told.usage.prompt_tokens).toBe(tokens.length);
  });

  it('local/use-lite refuses invalid requests with the OpenAI client’s error classes, at no cost', async () => {
    const before = await moneyOf(world.sql, agent.agentId);
    const thrown = (wanted: OpenAI.EmbeddingCreateParams) =>
      openai.embeddings.create(wanted).catch((error: unknown) => error);
    const tokens = await thrown({ model, input: [[1, 999_999]] });
    expect(tokens).toBeInstanceOf(OpenAI.BadRequestError);
    expect(tokens).toMatchObject({ code: 'invalid_request', param: 'input' });
    const short = await thrown({ model, input: 'x', dimensions: 513 });
    expect(short).toBeInstanceOf(OpenAI.BadRequestError);
    expect(short).toMatchObject({ param: 'dimensions' });
    const gap = await thrown({ model, input: [[100_256]] });
    expect(gap).toMatchObject({ status: 400, param: 'input' });
    expect(await thrown({ model: 'use-heavy', input: 'x' })).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await moneyOf(world.sql, agent.agentId)).toEqual(before);
  });

  it('local/use-lite can be requested by its bare name, and answers with its full id', async () => {
    const list = await openai.embeddings.create({ model: 'use-lite', input: 'x' });
    expect(list.model).toBe(model);
  });
});
