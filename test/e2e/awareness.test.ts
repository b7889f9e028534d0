import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AwareWorld, bearer, startAwareWorld } from '../support/aware-world.ts';
import { askGuide } from '../support/whole-world.ts';

let aware: AwareWorld;
beforeAll(async () => {
  aware = await startAwareWorld();
});
afterAll(async () => {
  await aware[Symbol.asyncDispose]();
});

const TASK_HELD = { kind: 'task', matchKey: 'trip', windowKind: 'once', reserves: true } as const;

describe('what is kept for a task', () => {
  it('money reserved for a task is missing from the free balance, equally on every route that shows a balance', async () => {
    await using agent = await aware.agentWith(1_000_000n);
    await aware.policy(agent.agentId, { ...TASK_HELD, limitRaw: 300_000n });
    const admin = { headers: { 'x-admin-key': aware.world.adminApiKey } };
    const { body: own } = await aware.asAgent(agent, 'balance');
    expect(own).toMatchObject({
      balance: '700000',
      spendableRaw: '700000',
      heldUnspentRaw: '300000',
      pendingSettlementsRaw: '0',
      pendingSettlements: '0',
    });
    expect((await aware.asAgent(agent, 'credit-remaining')).body).toMatchObject({
      available: '700000',
      creditIn: '1000000',
      creditOut: '0',
      headroomToAutoBorrow: '700000',
    });
    const detail = await aware.to(`/v1/admin/agents/${agent.agentId}/balance`, admin);
    expect(detail.body).toMatchObject({ spendableRaw: '700000', heldUnspentRaw: '300000' });
    const list = await aware.to('/v1/admin/agents?limit=500', admin);
    expect(list.body.agents).toContainEqual(
      expect.objectContaining({ agentId: agent.agentId, balance: '700000' }),
    );
    const credited = await aware.to(`/v1/admin/agents/${agent.agentId}/credit`, {
      ...admin,
      body: { amountRaw: '5', reference: `more-${agent.agentId}` },
    });
    expect(credited.body).toMatchObject({ balance: '700005', spendableRaw: '700005' });
    const balances = await aware.to('/v1/developer/balances', { headers: aware.developer.headers });
    expect(balances.body).toMatchObject({ apiCreditsAvailableRaw: '700005' });
    const rollup = await aware.to('/v1/developer/agents/rollup', {
      headers: aware.developer.headers,
    });
    expect(JSON.stringify(rollup.body)).toContain('"balanceRaw":"700005"');
  });

  it('money reserved for a task shrinks by the spend of that task', async () => {
    await using agent = await aware.agentWith(1_000_000n);
    await aware.policy(agent.agentId, { ...TASK_HELD, limitRaw: 300_000n });
    const answer = await aware.to('/v1/chat/completions', {
      headers: { ...bearer(agent.key), 'x-svc-task-id': 'Trip' },
      body: { model: 'local/guide', messages: [{ role: 'user', content: 'What is 2 + 3?' }] },
    });
    expect(answer.status).toBe(200);
    const cost = BigInt(answer.headers.get('x-svc-cost-usdc') ?? '0');
    expect(cost).toBeGreaterThan(0n);
    expect((await aware.asAgent(agent, 'balance')).body).toMatchObject({
      spendableRaw: '700000',
      heldUnspentRaw: `${300_000n - cost}`,
    });
  });
});

describe('what an agent is told of its money', () => {
  it("the awareness routes have every field of the contract, and change with the agent's purchases", async () => {
    await using agent = await aware.agentWith(2_000_000n);
    await aware.policy(agent.agentId, { kind: 'session', limitRaw: 500_000n });
    const before = (await aware.asAgent(agent, 'credit-remaining')).body;
    expect(before).toEqual({
      available: '2000000',
      creditIn: '2000000',
      creditOut: '0',
      creditLimit: '0',
      headroomToAutoBorrow: '2000000',
      utilizationBps: 0,
      sessionSpendLimit: '500000',
      sessionSpent: '0',
      sessionSpendRemaining: '500000',
      asOf: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const bought = await askGuide(aware.world.url, agent.key);
    const cost = BigInt(bought.headers.get('x-svc-cost-usdc') ?? '0');
    expect((await aware.asAgent(agent, 'credit-remaining')).body).toMatchObject({
      available: `${2_000_000n - cost}`,
      creditOut: `${cost}`,
      sessionSpent: `${cost}`,
      sessionSpendRemaining: `${500_000n - cost}`,
    });
    expect((await aware.asAgent(agent, 'loan-state')).body).toEqual({
      state: 'idle',
      reason: 'no_active_loans',
      details: { available: `${2_000_000n - cost}`, creditLimit: '0' },
    });
  });

  it('the awareness routes and thresholds show one utilization, which includes holds', async () => {
    await using agent = await aware.agentWith(10_000n);
    const { agentId } = agent;
    const watch = { headers: bearer(agent.key), body: { thresholdBps: 200 } };
    expect((await aware.to('/v1/agents/credit-thresholds', watch)).status).toBe(201);
    // 187 raw are spent, and work is under way that may take 67 more.
    await aware.world.sql`
      update agent_funds set consumed_raw = 187, held_raw = 67, spendable_raw = 9746,
        version = version + 1
      where agent_id = ${agentId}`;
    const { headers } = aware.developer;
    const own = await aware.asAgent(agent, 'credit-remaining');
    const detail = await aware.to(`/v1/developer/agents/${agentId}`, { headers });
    const rollup = await aware.to('/v1/developer/agents/rollup', { headers });
    const rolled = (rollup.body.agents as { id: number; utilizationBps: number }[]).find(
      ({ id }) => id === agentId,
    );
    const watched = await aware.to('/v1/agents/credit-thresholds', watch);
    expect({
      own: [own.body.utilizationBps, own.body.creditOut, own.body.creditIn],
      detail: detail.body.utilizationBps,
      rollup: rolled?.utilizationBps,
      threshold: watched.body.lastState,
    }).toEqual({
      own: [254, '254', '10000'],
      detail: 254,
      rollup: 254,
      threshold: 'above',
    });
  });

  it('the awareness routes answer an agent that is not funded yet', async () => {
    await using agent = await aware.agentWith(0n);
    expect((await aware.asAgent(agent, 'credit-remaining')).body).toMatchObject({
      available: '0',
      creditIn: '0',
      headroomToAutoBorrow: '0',
      utilizationBps: 0,
      sessionSpendLimit: null,
      sessionSpent: '0',
      sessionSpendRemaining: null,
    });
  });

  it.each(['credit-remaining', 'loan-state'])(
    'an awareness route requires an agent key: %s',
    async (path) => {
      expect(await aware.to(`/v1/agents/${path}`)).toMatchObject({
        status: 401,
        body: { error: 'Missing or invalid Authorization header' },
      });
      expect(
        await aware.to(`/v1/agents/${path}`, { headers: aware.developer.headers }),
      ).toMatchObject({ status: 401, body: { error: 'wrong_credential_type' } });
      expect(await aware.to(`/v1/agents/${path}`, { headers: bearer('svc_none') })).toMatchObject({
        status: 401,
        body: { error: 'Invalid API key' },
      });
    },
  );

  it('the awareness routes refuse an agent that is suspended or closed', async () => {
    const agent = await aware.agentWith(10n);
    const status = (to: 'suspended' | 'active') => ({
      method: 'PATCH',
      headers: aware.developer.headers,
      body: { status: to },
    });
    await aware.to(`/v1/developer/agents/${agent.agentId}/status`, status('suspended'));
    for (const path of ['credit-remaining', 'loan-state']) {
      expect(await aware.asAgent(agent, path)).toMatchObject({
        status: 403,
        body: { error: 'agent_suspended' },
      });
    }
    await agent[Symbol.asyncDispose]();
    for (const path of ['credit-remaining', 'loan-state']) {
      expect(await aware.asAgent(agent, path)).toMatchObject({
        status: 403,
        body: { error: 'account_closed' },
      });
    }
    expect((await aware.asAgent(agent, 'balance')).body).toMatchObject({
      status: 'closed',
      spendableRaw: '0',
      heldUnspentRaw: '0',
    });
  });

  it('the credit-remaining route is 404 no_credit_limit for an agent without a wallet', async () => {
    await using agent = await aware.agentWith(10n);
    const wallet = aware.world
      .sql`update agents set wallet_address = null where id = ${agent.agentId}`;
    await wallet;
    expect(await aware.asAgent(agent, 'credit-remaining')).toMatchObject({
      status: 404,
      body: { error: 'no_credit_limit' },
    });
    expect((await aware.asAgent(agent, 'loan-state')).status).toBe(200);
  });
});
