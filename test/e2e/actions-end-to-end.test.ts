import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

const TAG = 'Summarize Doc-42';

let world: WholeWorld;
let developer: Developer;
let agent: { readonly path: string; readonly key: Readonly<Record<string, string>> };
beforeAll(async () => {
  world = await startWorld();
  developer = await newDeveloper(world.api, 'follows its actions');
  const agentId = await developer.createAgent('acts');
  const { key } = await developer.mintKey(agentId);
  agent = {
    path: `/v1/developer/agents/${agentId}`,
    key: { authorization: `Bearer ${key}` },
  };
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': world.adminApiKey },
    body: { amountRaw: '1000000', reference: 'start' },
  });
});
afterAll(() => world[Symbol.asyncDispose]());

/** Asks the guide under an action and answers what it cost. */
async function act(action: string): Promise<bigint> {
  const told = await ask(`${world.url}/v1/chat/completions`, {
    headers: { ...agent.key, 'x-svc-action-id': action },
    body: { model: 'local/guide', messages: [{ role: 'user', content: 'What is 2 + 3?' }] },
  });
  expect(told.status).toBe(200);
  return BigInt(told.headers.get('x-svc-cost-usdc') ?? -1);
}

/** What the developer is told of a path. */
const managed = async (path: string) =>
  (await ask(world.url + path, { headers: developer.headers })).body;
const manage = (path: string) => managed(agent.path + path);

describe('what an agent does under an action', () => {
  it('an action of an agent is listed with its calls, their cost and their outcome', async () => {
    const costs = [await act(TAG), await act(` ${TAG.toUpperCase()} `)];
    const spentRaw = costs.reduce((sum, cost) => sum + cost, 0n).toString();
    expect(spentRaw).not.toBe('0');
    const seen = {
      actionId: 'summarize doc-42',
      calls: 2,
      spentRaw,
      firstSeen: expect.stringMatching(/Z$/),
      lastSeen: expect.stringMatching(/Z$/),
    };
    expect(await manage('/actions')).toEqual({ actions: [{ ...seen, outcome: null }] });

    await act('later');
    const path = `/v1/agents/actions/${encodeURIComponent(TAG)}/outcome`;
    await ask(world.url + path, {
      headers: agent.key,
      body: { status: 'success', scoreBps: 9_000 },
    });
    const { actions } = await manage('/actions');
    expect(actions).toMatchObject([
      { ...seen, outcome: { status: 'success', scoreBps: 9_000, note: null, reportCount: 1 } },
      { actionId: 'later', calls: 1, outcome: null },
    ]);
  });

  it('an action of an agent is counted by every report that adds up calls and cost', async () => {
    const usage = await manage('/gateway-usage');
    const { totalCalls, totalCostRaw } = usage;
    expect(totalCalls).toBe(3);
    expect(usage.byModel).toMatchObject([
      { model: 'local/guide', calls: totalCalls, costRaw: totalCostRaw },
    ]);
    expect(await manage('')).toMatchObject({ recentTransactionCount24h: totalCalls });
    const { agents } = await managed('/v1/developer/agents/rollup');
    expect(agents).toMatchObject([{ spend30dRaw: totalCostRaw, keysCount: 1 }]);
    const { usage: ofAccount } = await managed('/v1/developer/profile');
    expect(ofAccount).toEqual({ totalRequests: totalCalls, totalSpentRaw: totalCostRaw });
  });
});
