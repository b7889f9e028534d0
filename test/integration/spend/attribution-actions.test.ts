import { describe, expect, it } from 'vitest';
import { type Action, findActions } from '../../../src/spend/attribution/action-store.ts';
import { useAccountsEdge } from '../../support/accounts-edge.ts';
import { rowsReadBy } from '../../support/rows-read.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;

type Total = { calls: number; spentRaw: number; firstSeen: string; lastSeen: string };

const addTotal = (agentId: number, actionId: string, total: Total) => accounts.sql`
  insert into action_totals (agent_id, action_id, calls, spent_raw, first_seen, last_seen)
  values (${agentId}, ${actionId}, ${total.calls}, ${total.spentRaw}, ${total.firstSeen},
    ${total.lastSeen})`;

const addOutcome = (agentId: number, actionId: string, reportedAt: string) => accounts.sql`
  insert into action_outcomes (agent_id, action_id, status, reported_at)
  values (${agentId}, ${actionId}, 'success', ${reportedAt})`;

const addSpend = (
  agentId: number,
  row: { daysAgo: number; model: string; rail: string; calls: number; costRaw: number },
) => accounts.sql`
  insert into spend_totals (agent_id, day, model, rail, calls, failed, cost_raw)
  values (${agentId}, (now() at time zone 'utc')::date - ${row.daysAgo}::int, ${row.model},
    ${row.rail}, ${row.calls}, 0, ${row.costRaw})`;

const at = (minute: number) => `2026-08-11T12:${String(minute).padStart(2, '0')}:00.000Z`;

describe('the view of the actions', () => {
  it('the view of the actions shows cost and outcome side by side, the latest call or report first', async () => {
    const { agent, headers, path } = await accounts.edge.agentOf('views');
    const { agentId } = agent;
    const seen = { calls: 3, spentRaw: 7_350, firstSeen: at(1), lastSeen: at(5) };
    await addTotal(agentId, 'spent', seen);
    await addTotal(agentId, 'both', { ...seen, lastSeen: at(2) });
    await addOutcome(agentId, 'both', at(9));
    await addOutcome(agentId, 'free', at(4));
    await addTotal(agentId + 1, 'of another', seen);

    const { status, body } = await ask('GET', `${path}/actions`, { headers });
    expect(status).toBe(200);
    const outcome = { status: 'success', scoreBps: null, note: null, reportCount: 1 };
    const spent = { calls: 3, spentRaw: '7350', firstSeen: at(1) };
    expect(body).toEqual({
      actions: [
        { actionId: 'both', ...spent, lastSeen: at(2), outcome: { ...outcome, reportedAt: at(9) } },
        { actionId: 'spent', ...spent, lastSeen: at(5), outcome: null },
        {
          actionId: 'free',
          calls: 0,
          spentRaw: '0',
          firstSeen: null,
          lastSeen: null,
          outcome: { ...outcome, reportedAt: at(4) },
        },
      ],
    });
  });

  it('the view of the actions has as many rows as the limit requests, within its range', async () => {
    const { agent, headers, path } = await accounts.edge.agentOf('views many');
    await accounts.sql`
      insert into action_totals (agent_id, action_id, calls, spent_raw, first_seen, last_seen)
      select ${agent.agentId}, 'action ' || i, 1, 1, now(), now() - i * interval '1 second'
      from generate_series(1, 600) i`;
    const length = async (query: string) =>
      (await ask('GET', `${path}/actions${query}`, { headers })).body.actions?.length;
    expect(await length('')).toBe(100);
    expect(await length('?limit=2')).toBe(2);
    expect(await length('?limit=0')).toBe(1);
    expect(await length('?limit=-7')).toBe(1);
    expect(await length('?limit=500')).toBe(500);
    expect(await length(`?limit=${'9'.repeat(40)}`)).toBe(500);
    for (const limit of ['', 'ten', '1.5', '1e2', '%00']) {
      const answer = await ask('GET', `${path}/actions?limit=${limit}`, { headers });
      expect([answer.status, answer.body.error], limit).toEqual([400, 'Invalid request']);
    }
    const stranger = await accounts.edge.developer('views others');
    expect((await ask('GET', `${path}/actions`, { headers: stranger })).status).toBe(404);
  });

  it('the view of the actions reads no more rows than it shows, however many actions there are', async () => {
    const agentId = 900_002;
    await accounts.sql`
      insert into action_totals (agent_id, action_id, calls, spent_raw, first_seen, last_seen)
      select ${agentId}, 'action ' || i, 1, 1, now(), now() - i * interval '1 minute' - interval '30 seconds'
      from generate_series(1, 5000) i`;
    await accounts.sql`
      insert into action_outcomes (agent_id, action_id, status, reported_at)
      select ${agentId}, 'action ' || i, 'success', now() - (5000 - i) * interval '1 minute'
      from generate_series(1, 5000) i`;
    await accounts.sql`analyze action_totals, action_outcomes`;
    let actions: readonly Action[] = [];
    const read = await rowsReadBy(
      accounts.sql,
      ['action_totals', 'action_outcomes'],
      async (tx) => {
        actions = await findActions(tx, agentId, 4);
      },
    );
    const names = ['action 5000', 'action 4999', 'action 1', 'action 4998'];
    expect(actions.map(({ actionId }) => actionId)).toEqual(names);
    expect(read).toBeLessThan(100);
  });
});

describe('what the totals answer', () => {
  it('the rollup of all agents sums the spend of the last 30 days', async () => {
    const { agent, headers, path, minted } = await accounts.edge.agentOf('rolls up');
    const { agentId } = agent;
    const { ledger } = accounts.world.agentsDeps;
    await ledger.credit({ agentId, amountRaw: 60n, reference: `rollup ${agentId}` });
    const spend = { model: 'm', rail: 'free', calls: 1 };
    await addSpend(agentId, { ...spend, daysAgo: 0, costRaw: 1 });
    await addSpend(agentId, { ...spend, daysAgo: 29, costRaw: 20 });
    await addSpend(agentId, { ...spend, daysAgo: 30, costRaw: 300 });
    await addSpend(agentId, { ...spend, model: '', rail: '', daysAgo: 3, costRaw: 4_000 });
    await ask('POST', `${path}/keys`, { headers });
    await ask('DELETE', `${path}/keys/${minted.id}`, { headers });

    const { status, body } = await ask('GET', '/v1/developer/agents/rollup', { headers });
    expect(status).toBe(200);
    expect(body).toEqual({
      agents: [
        {
          id: agentId,
          name: 'caller 1',
          status: 'active',
          phone: null,
          keysCount: 1,
          balanceRaw: '60',
          spend30dRaw: '4021',
          utilizationBps: 0,
        },
      ],
    });
    const other = await accounts.edge.developer('rolls up nothing');
    expect((await ask('GET', '/v1/developer/agents/rollup', { headers: other })).body).toEqual({
      agents: [],
    });
    expect((await ask('PATCH', '/v1/developer/agents/rollup', { headers })).status).toBe(405);
  });

  it('spend totals give the gateway usage of an agent by model, and the requests of an account', async () => {
    const { agent, headers, path } = await accounts.edge.agentOf('uses models');
    const usage = () => ask('GET', `${path}/gateway-usage`, { headers });
    expect((await usage()).body).toEqual({ totalCalls: 0, totalCostRaw: '0', byModel: [] });
    const { agentId } = agent;
    await addSpend(agentId, { daysAgo: 0, model: 'a', rail: 'free', calls: 5, costRaw: 0 });
    await addSpend(agentId, { daysAgo: 0, model: 'b', rail: 'byok', calls: 1, costRaw: 20 });
    await addSpend(agentId, { daysAgo: 99, model: 'b', rail: 'byok', calls: 2, costRaw: 3 });
    await addSpend(agentId, { daysAgo: 0, model: '', rail: '', calls: 10, costRaw: 400 });
    expect((await usage()).body).toEqual({
      totalCalls: 8,
      totalCostRaw: '23',
      byModel: [
        { model: 'b', rail: 'byok', calls: 3, costRaw: '23' },
        { model: 'a', rail: 'free', calls: 5, costRaw: '0' },
      ],
    });
    const profile = await ask('GET', '/v1/developer/profile', { headers });
    expect(profile.body.usage).toEqual({ totalRequests: 18, totalSpentRaw: '0' });
    const stranger = await accounts.edge.developer('asks for the usage of others');
    expect((await ask('GET', `${path}/gateway-usage`, { headers: stranger })).status).toBe(404);
  });

  it('the count of the last 24 hours reads no charges of days whose totals are zero', async () => {
    const { agent, headers, path } = await accounts.edge.agentOf('counts');
    const { agentId } = agent;
    const add = (count: number, ageHours: number) => accounts.sql`
      insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw,
        usage, created_at)
      select ${agentId}, 'p', 'gateway://x', 'x', 'POST', 'success', 0, '{}',
        now() - ${ageHours} * interval '1 hour' from generate_series(1, ${count})`;
    const count = async () =>
      (await ask('GET', path, { headers })).body.recentTransactionCount24h as number;
    await add(400, 72);
    expect(await count()).toBe(0);
    await add(3, 0);
    await addSpend(agentId, { daysAgo: 0, model: 'a', rail: 'free', calls: 3, costRaw: 0 });
    expect(await count()).toBe(3);
    await addSpend(agentId, { daysAgo: 1, model: 'a', rail: 'free', calls: 100, costRaw: 0 });
    expect(await count()).toBe(3);
  });
});
