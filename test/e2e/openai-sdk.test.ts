import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { countedOpenAi, thrownBy } from '../support/counted-openai.ts';
import { moneyOf, newDeveloper, startWorld, type WholeWorld } from '../support/whole-world.ts';

const messages = [{ role: 'user' as const, content: 'What is 2 + 3?' }];

let world: WholeWorld;
let rich: FundedAgent;
let poor: FundedAgent;
/** Of an agent that was never funded. */
let penniless: string;
beforeAll(async () => {
  world = await startWorld();
  rich = await world.fund('rich');
  poor = await world.fund('poor', 1n);
  const developer = await newDeveloper(world.api, 'penniless');
  penniless = (await developer.mintKey(await developer.createAgent('penniless'))).key;
});
afterAll(() => world[Symbol.asyncDispose]());

const client = (apiKey: string) => countedOpenAi({ apiKey, baseURL: `${world.url}/v1` });

/** What the client threw, with how often it had asked. */
async function refused(apiKey: string, call: (openai: OpenAI) => Promise<unknown>) {
  const { openai, sent } = client(apiKey);
  return { error: await thrownBy(call(openai)), requests: sent.length };
}

describe('the openai client on the running server', () => {
  it('the OpenAI client lists the models and describes one whose id has a slash', async () => {
    const { openai } = client(rich.agentKey);
    const ids: string[] = [];
    for await (const model of openai.models.list()) ids.push(model.id);
    expect(ids).toContain('local/guide');
    expect(new Set(ids).size).toBe(ids.length);
    const guide = await openai.models.retrieve('local/guide');
    expect(guide).toMatchObject({ id: 'local/guide', object: 'model' });
  });

  it('the OpenAI client buys a completion whose header, usage, charge and balance agree', async () => {
    const before = await moneyOf(world.sql, rich.agentId);
    const { openai, sent } = client(rich.agentKey);
    const { data, response } = await openai.chat.completions
      .create({ model: 'local/guide', messages })
      .withResponse();
    expect(data).toMatchObject({
      object: 'chat.completion',
      choices: [{ finish_reason: 'stop', message: { role: 'assistant' } }],
    });
    expect(data.choices[0]?.message.content).toContain('5');
    const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = data.usage ?? {};
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);

    const cost = BigInt(response.headers.get('x-svc-cost-usdc') ?? '-1');
    const after = await moneyOf(world.sql, rich.agentId);
    expect(cost).toBeGreaterThan(0n);
    expect(before.spendable - after.spendable).toBe(cost);
    expect(after.charged - before.charged).toBe(cost);
    expect(after.held).toBe(0n);
    expect(sent).toHaveLength(1);
  });

  it('the OpenAI client is told once that the balance is used up, and does not retry', async () => {
    const before = await moneyOf(world.sql, poor.agentId);
    for (const key of [poor.agentKey, penniless]) {
      const { error, requests } = await refused(key, (openai) =>
        openai.chat.completions.create({ model: 'local/guide', messages }),
      );
      const broke = { status: 402, code: 'budget_exhausted', type: 'insufficient_quota' };
      expect(error).toMatchObject(broke);
      expect(requests).toBe(1);
    }
    expect(await moneyOf(world.sql, poor.agentId)).toEqual(before);
  });

  it('the OpenAI client throws its own error classes for an unknown model and an invalid key', async () => {
    const unknown = await refused(rich.agentKey, (openai) =>
      openai.chat.completions.create({ model: 'local/guido', messages }),
    );
    expect(unknown.error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(unknown.error).toMatchObject({ code: 'model_not_found' });
    const retrieved = await refused(rich.agentKey, (openai) => openai.models.retrieve('no/such'));
    expect(retrieved.error).toBeInstanceOf(OpenAI.NotFoundError);

    const stranger = await refused(`svc_${'0'.repeat(64)}`, (openai) =>
      openai.chat.completions.create({ model: 'local/guide', messages }),
    );
    expect(stranger.error).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(stranger.error).toMatchObject({ code: 'invalid_api_key' });
    expect([unknown.requests, retrieved.requests, stranger.requests]).toEqual([1, 1, 1]);
  });
});
