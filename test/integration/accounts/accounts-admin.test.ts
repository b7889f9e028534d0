import { describe, expect, it } from 'vitest';
import { ADMIN, useAccountsEdge } from '../../support/accounts-edge.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;

describe('the operator', () => {
  it('the operator funds an agent once per reference, and every balance view shows the credit', async () => {
    const { agent, key, headers } = await accounts.edge.agentOf('funded');
    const path = `/v1/admin/agents/${agent.id}/credit`;
    const body = { amountRaw: '3000000', reference: `funds-${agent.id}` };
    const credit = (change: object = {}) =>
      ask('POST', path, { headers: ADMIN, body: { ...body, ...change } });
    expect(await credit()).toMatchObject({
      status: 200,
      body: { agentId: agent.id, credited: true, balance: '3000000' },
    });
    expect((await credit()).body).toMatchObject({ credited: false, balance: '3000000' });
    expect(await credit({ amountRaw: '1' })).toMatchObject({
      status: 409,
      body: { error: 'reference_conflict' },
    });
    const balance = (await ask('GET', '/v1/agents/balance', { headers: key })).body;
    expect(balance).toEqual({
      balance: '3000000',
      spendableRaw: '3000000',
      creditAvailableRaw: '0',
      creditAvailable: '0',
      creditLimit: '0',
      creditUsed: '0',
      walletUsdcRaw: null,
      pendingSettlementsRaw: '0',
      pendingSettlements: '0',
      heldUnspentRaw: '0',
      managedWalletAddress: agent.managedWalletAddress,
      activeLoans: [],
      delegationActive: true,
      operatorExpiry: Number(agent.operatorExpiry),
    });
    const shouted = agent.managedWalletAddress.toUpperCase().replace('0X', '0x');
    const places = [`/v1/admin/agents/${agent.id}/balance`, `/v1/admin/balances/${shouted}`];
    for (const place of places) {
      expect((await ask('GET', place, { headers: ADMIN })).body).toEqual({
        agentId: agent.id,
        status: 'active',
        ...balance,
      });
    }
    expect((await ask('GET', '/v1/developer/balances', { headers })).body).toEqual({
      developerWalletBalanceRaw: '0',
      agentWalletsBalanceRaw: '0',
      apiCreditsAvailableRaw: expect.stringMatching(/^\d+$/),
      currency: 'USDC',
      decimals: 6,
    });
  });

  it('a credit that would exceed the largest possible balance is refused with a sentence that says so', async () => {
    const { agent } = await accounts.edge.agentOf('brimful');
    const path = `/v1/admin/agents/${agent.id}/credit`;
    const credit = (amountRaw: string) =>
      ask('POST', path, { headers: ADMIN, body: { amountRaw, reference: `brim-${amountRaw}` } });
    const known = { agentId: agent.id, reference: 'brim' };
    await accounts.world.ledger.credit({ ...known, amountRaw: 2n ** 63n - 6n });
    expect(await credit('6')).toMatchObject({
      status: 400,
      body: { error: 'credit_too_large', message: expect.stringContaining('9223372036854775807') },
    });
    expect(await credit('5')).toMatchObject({ status: 200, body: { credited: true } });
  });

  it('the operator lists, suspends and closes any agent, by its number or its wallet', async () => {
    const { agent, key } = await accounts.edge.agentOf('operated');
    const page = `/v1/admin/agents?limit=1&cursor=${agent.id - 1}`;
    expect((await ask('GET', page, { headers: ADMIN })).body.agents).toEqual([
      expect.objectContaining({
        id: String(agent.id),
        managedWalletAddress: agent.managedWalletAddress,
        status: 'active',
        balance: '0',
        creditLimit: null,
        creditUsed: '0',
        activeLoanCount: 0,
        delegationActive: true,
        createdAt: agent.createdAt,
      }),
    ]);
    const place = `/v1/admin/agents/${agent.managedWalletAddress}`;
    const suspend = { headers: ADMIN, body: { status: 'suspended' } };
    expect((await ask('PATCH', place, suspend)).body).toEqual({
      id: agent.id,
      status: 'suspended',
    });
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).status).toBe(403);
    expect(await ask('POST', `${place}/close`, { headers: ADMIN })).toMatchObject({
      status: 200,
      body: { status: 'closed' },
    });
  });

  it('admin routes refuse bad credentials, agent references and amounts with their documented errors', async () => {
    const credit = { headers: ADMIN, body: { amountRaw: '1', reference: 'r' } };
    expect(await ask('GET', '/v1/admin/agents')).toMatchObject({
      status: 401,
      body: { error: 'Unauthorized' },
    });
    for (const ref of ['abc', '0x12', '1e3']) {
      expect(await ask('POST', `/v1/admin/agents/${ref}/credit`, credit)).toMatchObject({
        status: 400,
        body: { error: 'Invalid address' },
      });
    }
    for (const ref of ['99999999', '99999999999', `0x${'ab'.repeat(20)}`]) {
      expect(await ask('POST', `/v1/admin/agents/${ref}/credit`, credit)).toMatchObject({
        status: 404,
        body: { error: 'Not found' },
      });
    }
    for (const amountRaw of ['0', '-1', '1.0', '1e3', '', 5, '99999999999999999999']) {
      const body = { amountRaw, reference: 'r' };
      const answer = await ask('POST', '/v1/admin/agents/1/credit', { headers: ADMIN, body });
      expect(answer, String(amountRaw)).toMatchObject({
        status: 400,
        body: { error: 'Invalid request' },
      });
    }
    expect(
      await ask('POST', '/v1/admin/agents/1/credit', { headers: ADMIN, body: '{' }),
    ).toMatchObject({ status: 400, body: { error: 'Invalid JSON body' } });
  });
});

describe('the description of the accounts', () => {
  it('the OpenAPI description contains the account routes and is built without a shape that it cannot describe', () => {
    expect(Object.keys(accounts.edge.description())).toContain(
      '/v1/developer/agents/{agentId}/keys',
    );
  });
});
