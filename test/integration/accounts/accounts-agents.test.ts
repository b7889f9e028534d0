import { describe, expect, it } from 'vitest';
import { PREPAID, useAccountsEdge } from '../../support/accounts-edge.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;

describe('agents', () => {
  it('creating an agent returns its wallet and whole record, at the top level and as `agent`', async () => {
    const { agent, headers, path } = await accounts.edge.agentOf('creates an agent');
    const { agent: nested, ...record } = agent;
    expect(nested).toEqual(record);
    expect(record).toEqual({
      id: agent.agentId,
      agentId: expect.any(Number),
      name: 'caller 1',
      mode: 'managed',
      fundingMode: 'wallet',
      status: 'active',
      suspendedReason: null,
      agentWalletAddress: agent.managedWalletAddress,
      managedWalletAddress: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      creditLimit: null,
      creditIn: '0',
      maxRateBps: 1_000,
      delegationActive: true,
      operatorExpiry: String(Math.floor(accounts.world.clock.now() / 1_000) + 31_536_000),
      sessionSpendLimitRaw: null,
      selfServiceLocked: false,
      delegationTxHash: null,
      provisioning: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      closedAt: null,
    });
    expect((await ask('GET', '/v1/developer/agents', { headers })).body.agents).toEqual([record]);
    expect((await ask('GET', path, { headers })).body).toEqual({
      agent: record,
      creditUsed: '0',
      utilizationBps: 0,
      recentTransactionCount24h: 0,
      sessionSpend: { limitRaw: null, startedAtUnix: null },
    });
  });

  it('creating an agent with an invalid field is refused with the name of the field', async () => {
    const headers = await accounts.edge.developer('bad agents');
    const wrong: Record<string, unknown>[] = [
      { name: '' },
      { name: 'x'.repeat(65) },
      { name: 'dot.com' },
      { name: 7 },
      { borrowLimitRaw: '0' },
      { borrowLimitRaw: '-1' },
      { borrowLimitRaw: '1.5' },
      { borrowLimitRaw: 5 },
      { borrowLimitRaw: '9'.repeat(30) },
      { maxRateBps: 0 },
      { maxRateBps: 10_001 },
      { maxRateBps: 1.5 },
      { expirySeconds: 59 },
      { expirySeconds: 31_536_001 },
    ];
    for (const change of wrong) {
      const body = { ...PREPAID, ...change };
      const answer = await ask('POST', '/v1/developer/agents', { headers, body });
      expect(answer, JSON.stringify(change)).toMatchObject({
        status: 400,
        body: { error: 'Invalid request', details: [{ path: Object.keys(change) }] },
      });
    }
  });

  it('a prepaid agent needs only a name, and borrowLimitRaw requires maxRateBps and expirySeconds', async () => {
    const headers = await accounts.edge.developer('lends nothing');
    const create = (body: object) => ask('POST', '/v1/developer/agents', { headers, body });
    expect(await create({ name: 'prepaid' })).toMatchObject({
      status: 201,
      body: {
        fundingMode: 'wallet',
        maxRateBps: 1_000,
        operatorExpiry: String(Math.floor(accounts.world.clock.now() / 1_000) + 31_536_000),
      },
    });
    const message = 'is required beside borrowLimitRaw: an agent that borrows has a bound for it';
    expect(await create({ name: 'borrows', borrowLimitRaw: '5000000' })).toMatchObject({
      status: 400,
      body: {
        error: 'Invalid request',
        details: [
          { path: ['maxRateBps'], message },
          { path: ['expirySeconds'], message },
        ],
      },
    });
    const bounded = { borrowLimitRaw: '5000000', maxRateBps: 300, expirySeconds: 3_600 };
    expect(await create({ name: 'borrows', ...bounded })).toMatchObject({
      status: 201,
      body: { fundingMode: 'credit_line', maxRateBps: 300 },
    });
  });

  it('an agent of another developer reads as absent', async () => {
    const { path, minted } = await accounts.edge.agentOf('owns it');
    const headers = await accounts.edge.developer('does not own it');
    const tries = [
      ['GET', path],
      ['PATCH', `${path}/status`, { status: 'suspended' }],
      ['POST', `${path}/close`],
      ['POST', `${path}/keys`],
      ['GET', `${path}/keys`],
      ['DELETE', `${path}/keys/${minted.id}`],
      ['POST', `${path}/keys/${minted.id}/rotate`],
      ['GET', '/v1/developer/agents/99999999999'],
    ] as const;
    for (const [method, place, body] of tries) {
      expect(await ask(method, place, { headers, body }), place).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
    }
    expect(await ask('GET', '/v1/developer/agents/abc', { headers })).toMatchObject({
      status: 400,
      body: { error: 'Invalid request' },
    });
  });

  it('suspending or resuming an agent takes effect at its very next call', async () => {
    const { path, headers, key } = await accounts.edge.agentOf('suspends');
    const set = (status: string) => ask('PATCH', `${path}/status`, { headers, body: { status } });
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).status).toBe(200);
    expect((await set('suspended')).body).toMatchObject({
      status: 'suspended',
      suspendedReason: 'developer_manual',
    });
    expect((await set('suspended')).status).toBe(200);
    expect(await ask('GET', '/v1/agents/balance', { headers: key })).toMatchObject({
      status: 403,
      body: { error: 'agent_suspended' },
    });
    expect((await set('active')).body).toMatchObject({ status: 'active', suspendedReason: null });
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).status).toBe(200);
    expect((await set('closed')).status).toBe(400);
  });

  it('a closed agent frees its slot and its name, and answers only for its balance', async () => {
    const { path, headers, key, agent } = await accounts.edge.agentOf('closes');
    const expected = {
      status: 'closed',
      loansRepaid: 0,
      loansRemaining: 0,
      remainingLoans: [],
      repayTxHashes: [],
      transferTxHash: null,
      usdcTransferred: null,
    };
    expect(await ask('POST', `${path}/close`, { headers })).toMatchObject({
      status: 200,
      body: expected,
    });
    expect((await ask('POST', `${path}/close`, { headers, body: {} })).body).toEqual(expected);
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).body).toMatchObject({
      status: 'closed',
      remainingLoans: [],
      spendableRaw: '0',
    });
    expect(
      await ask('PATCH', `${path}/status`, { headers, body: { status: 'active' } }),
    ).toMatchObject({ status: 409, body: { error: 'invalid_status_transition' } });
    expect(await ask('POST', `${path}/keys`, { headers })).toMatchObject({
      status: 403,
      body: { error: 'account_closed' },
    });
    const next = await ask('POST', '/v1/developer/agents', { headers, body: PREPAID });
    expect(next.status).toBe(201);
    const listed = (await ask('GET', '/v1/developer/agents', { headers })).body.agents;
    expect(listed.map((each: { id: number }) => each.id)).toEqual([next.body.id, agent.id]);
  });
});
