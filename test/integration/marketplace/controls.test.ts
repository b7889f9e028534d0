import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  MARKET,
  type MarketWorld,
  SPEECH,
  setPolicy,
  startMarketWorld,
  TEXT,
  TEXT_RAW,
} from '../../support/vendors/market-world.ts';
import { ask } from '../../support/whole-world.ts';

let market: MarketWorld;
beforeAll(async () => {
  market = await startMarketWorld({ BUDGET_ADVISORY_ENABLED: '1' });
});
afterAll(() => market[Symbol.asyncDispose]());

describe('controls of the agent', () => {
  it('a cap on the marketplace host allows calls up to their exact price', async () => {
    const agent = await market.shopper('capped');
    await setPolicy(agent, { kind: 'api', matchKey: 'market.example', limitRaw: '6300' });
    const first = await agent.buy(SPEECH, { text: TEXT });
    expect(JSON.parse(first.headers.get('x-svc-budget-advisory') ?? '{}')).toMatchObject({
      tightest: { scope: 'api', match: 'market.example', remaining_raw: '3150' },
    });
    expect((await agent.buy(SPEECH, { text: `${TEXT}x` })).body).toMatchObject({
      error: 'spend_limit_exceeded',
      code: 'policy_exceeded',
      kind: 'api',
      available: '3150',
      required: '3182',
      spent: '3150',
      limit: '6300',
    });
    const exact = await agent.buy(SPEECH, { text: TEXT });
    expect(exact.status).toBe(200);
    const asked = market.peer.heard.length;
    const refused = await agent.buy(SPEECH, { text: 'x' });
    expect([refused.status, refused.body.error]).toEqual([402, 'spend_limit_exceeded']);
    // A refusal of this server, and not of a vendor.
    expect(refused.headers.get('x-svc-payment')).toBeNull();
    expect(market.peer.heard).toHaveLength(asked);
  });

  it('an allowlist with the marketplace host allows its calls, and one without the host refuses them', async () => {
    const agent = await market.shopper('listed');
    await agent.ask('/v1/agents/allowlist-mode', { method: 'PUT', body: { mode: 'host' } });
    for (const path of [SPEECH, '/v1/tts/local', '/v1/db/vectordb/query']) {
      const refused = await agent.buy(path, { text: TEXT, query: 'a' });
      expect([path, refused.status, refused.body]).toMatchObject([
        path,
        403,
        { error: 'host_not_allowlisted', host: 'market.example' },
      ]);
    }
    await setPolicy(agent, { kind: 'api', matchKey: 'market.example', limitRaw: '1000000' });
    expect((await agent.buy(SPEECH, { text: TEXT })).status).toBe(200);
    expect((await agent.buy('/v1/db/vectordb/tenant/create', {})).status).toBe(200);
  });

  it('an allowlist allows fetching a transcription’s file from its hosts, and from no other', async () => {
    const agent = await market.shopper('listening');
    await agent.ask('/v1/agents/allowlist-mode', { method: 'PUT', body: { mode: 'host' } });
    await setPolicy(agent, { kind: 'api', matchKey: 'market.example', limitRaw: '1000000' });
    const audioUrl = market.sound(100);
    const { hostname } = new URL(audioUrl);
    const before = market.fetched.count;
    const bought = () => agent.buy('/v1/stt/deepgram', { audioUrl });
    const direct = () => agent.ask('/v1/stt/deepgram', { body: { audioUrl } });
    for (const way of [bought, direct]) {
      const refused = await way();
      expect([refused.status, refused.body]).toMatchObject([
        403,
        { error: 'host_not_allowlisted', host: hostname },
      ]);
      expect(refused.headers.get('x-svc-payment')).toBeNull();
    }
    expect(market.fetched.count).toBe(before);
    await setPolicy(agent, { kind: 'api', matchKey: hostname, limitRaw: '1' });
    for (const way of [bought, direct]) expect((await way()).status).toBe(200);
  });

  it('a used-up cap refuses a transcription before its file is fetched', async () => {
    const agent = await market.shopper('used up');
    await setPolicy(agent, { kind: 'api', matchKey: 'market.example', limitRaw: String(TEXT_RAW) });
    expect((await agent.buy(SPEECH, { text: TEXT })).status).toBe(200);
    const before = market.fetched.count;
    const order = { audioUrl: market.sound(100) };
    const refused = await agent.ask('/v1/stt/deepgram', { body: order });
    expect([refused.status, refused.body.error]).toEqual([402, 'budget_exhausted']);
    expect((await agent.buy('/v1/stt/deepgram', order)).status).toBe(402);
    expect(market.fetched.count).toBe(before);
  });

  it('a used-up kill switch suspends its agent, through the proxy and at the marketplace’s own routes', async () => {
    for (const path of ['by the proxy', 'directly']) {
      const agent = await market.shopper(`switched ${path}`);
      const cap = { kind: 'api', matchKey: 'market.example', limitRaw: String(TEXT_RAW) };
      await setPolicy(agent, { ...cap, action: 'suspend_agent' });
      expect((await agent.buy(SPEECH, { text: TEXT })).status).toBe(200);
      const asked = market.peer.heard.length;
      const buy = () =>
        path === 'directly'
          ? agent.ask(SPEECH, { body: { text: TEXT } })
          : agent.buy(SPEECH, { text: TEXT });
      const refused = await buy();
      expect([path, refused.status, JSON.stringify(refused.body)]).toEqual([
        path,
        402,
        expect.stringContaining('"auto_suspended":true'),
      ]);
      expect(market.peer.heard).toHaveLength(asked);
      const after = await buy();
      expect([after.status, after.body.error]).toEqual([403, 'agent_suspended']);
    }
  });

  it('session and task caps hold for marketplace calls, and suspend the agent if their action says so', async () => {
    const agent = await market.shopper('stopped');
    await setPolicy(agent, {
      kind: 'task',
      matchKey: 'job',
      windowKind: 'once',
      limitRaw: '3000',
      action: 'suspend_agent',
    });
    const headers = { 'x-svc-task-id': 'JOB' };
    const refused = await agent.buy(SPEECH, { text: TEXT }, { headers });
    expect([refused.status, refused.body]).toMatchObject([
      402,
      { kind: 'task', auto_suspended: true },
    ]);
    const after = await agent.buy(SPEECH, { text: TEXT });
    expect([after.status, after.body.error]).toEqual([403, 'agent_suspended']);
  });

  it('a marketplace call writes events for a cap that it hit and for its settled sale', async () => {
    const agent = await market.shopper('reported');
    await agent.ask('/v1/agents/spend-limit', {
      method: 'PUT',
      body: { limitRaw: String(TEXT_RAW) },
    });
    await agent.buy(SPEECH, { text: TEXT });
    await agent.buy(SPEECH, { text: TEXT });
    const rows = await market.world.sql<{ name: string; payload: unknown }[]>`
      select name, payload from events where payload->>'agentId' = ${String(agent.agentId)}
        and name like 'marketplace.%' order by id`;
    const url = `${MARKET}${SPEECH}`;
    expect(rows).toMatchObject([
      {
        name: 'marketplace.payment.settled',
        payload: {
          url,
          host: 'market.example',
          amountRaw: String(TEXT_RAW),
          rail: 'credit',
          txHash: null,
        },
      },
      { name: 'marketplace.spend_cap.hit', payload: { url, host: 'market.example' } },
    ]);
  });

  it('a marketplace charge records the task, action and customer of its call', async () => {
    const agent = await market.shopper('tagged');
    const headers = {
      'x-svc-task-id': 'T9',
      'x-svc-action-id': 'A9',
      'x-svc-customer-id': ' Acme ',
    };
    await agent.buy(SPEECH, { text: TEXT }, { headers });
    const [row] = await market.world.sql`
      select task_id, action_id, customer_id, target_host, target_url, rail, status, cost_raw, usage
      from charges where agent_id = ${agent.agentId}`;
    expect(row).toEqual({
      task_id: 't9',
      action_id: 'a9',
      customer_id: 'acme',
      rail: 'marketplace',
      target_host: 'market.example',
      target_url: `${MARKET}${SPEECH}`,
      status: 'success',
      cost_raw: TEXT_RAW,
      usage: { character: 100 },
    });
    // Once: the line of the history does not count under the action again.
    const owner = { headers: { authorization: `Bearer ${agent.developerKey}` } };
    const actions = await ask(
      `${market.world.url}/v1/developer/agents/${agent.agentId}/actions`,
      owner,
    );
    expect(actions.body).toMatchObject({ actions: [{ actionId: 'a9' }] });
    expect(JSON.stringify(actions.body)).toMatch(/"(calls|callCount|transactions)":1\b/);
  });
});
