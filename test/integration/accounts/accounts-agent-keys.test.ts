import { describe, expect, it } from 'vitest';
import { findAgent } from '../../../src/accounts/agents/agent-store.ts';
import { findAgentByDigest } from '../../../src/accounts/keys/agent-key-store.ts';
import { PREPAID, useAccountsEdge } from '../../support/accounts-edge.ts';
import { bearer } from '../../support/edge.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;

describe('agent keys', () => {
  it('an agent key is minted to spend by default, and lists show the same prefix as its creation', async () => {
    const { minted, headers, path, agent } = await accounts.edge.agentOf('mints');
    const { key, ...record } = minted;
    expect(key).toMatch(/^svc_[0-9a-f]{64}$/);
    expect(record).toEqual({
      id: expect.any(Number),
      keyId: record.id,
      keyPrefix: `${key.slice(0, 8)}...`,
      label: null,
      permissions: 'read_write',
      promptCaching: 'off',
      lastUsedAt: null,
      createdAt: expect.any(String),
      budget: null,
    });
    expect((await ask('GET', `${path}/keys`, { headers })).body).toEqual({ keys: [record] });
    const [event] = await accounts.sql`
      select agent_wallet, payload from events
      where name = 'key.created' and payload->>'agentId' = ${String(agent.id)}`;
    expect(event).toMatchObject({
      agent_wallet: agent.agentWalletAddress,
      payload: { keyId: record.id, keyType: 'agent', keyPrefix: record.keyPrefix },
    });
  });

  it('an agent key is revoked or rotated without a gap', async () => {
    const { headers, path, minted, key } = await accounts.edge.agentOf('rotates');
    const keyPath = `${path}/keys/${minted.id}`;
    const balance = (auth: Record<string, string>) =>
      ask('GET', '/v1/agents/balance', { headers: auth });
    expect((await balance(key)).status).toBe(200);
    const heir = await ask('POST', `${keyPath}/rotate`, { headers, body: { label: 'heir' } });
    expect(heir).toMatchObject({
      status: 201,
      body: { label: 'heir', permissions: 'read_write', key: expect.any(String) },
    });
    expect(await balance(key)).toMatchObject({ status: 401, body: { error: 'Invalid API key' } });
    expect((await balance(bearer(heir.body.key))).status).toBe(200);
    expect(await ask('POST', `${keyPath}/rotate`, { headers })).toMatchObject({
      status: 404,
      body: { error: 'Key not found' },
    });
    expect(await ask('DELETE', `${path}/keys/${heir.body.id}`, { headers })).toMatchObject({
      status: 200,
      body: { message: 'API key revoked', revoked: true },
    });
    expect((await balance(bearer(heir.body.key))).status).toBe(401);
  });

  it('an agent key records whether prompts are cached, and a rotated key inherits the setting unless it is changed', async () => {
    const { headers, path } = await accounts.edge.agentOf('caches');
    const mint = (promptCaching: unknown) =>
      ask('POST', `${path}/keys`, { headers, body: { promptCaching } });
    const first = await mint('auto');
    expect(first).toMatchObject({ status: 201, body: { promptCaching: 'auto' } });
    const rotate = (id: unknown, body: object) =>
      ask('POST', `${path}/keys/${id}/rotate`, { headers, body });
    const second = await rotate(first.body.id, { label: 'heir' });
    expect(second.body).toMatchObject({ promptCaching: 'auto' });
    const known = async (id: unknown) => {
      const [row] = await accounts.sql`select digest from agent_keys where id = ${id as number}`;
      return findAgentByDigest(accounts.sql, row?.digest);
    };
    expect(await known(second.body.id)).toMatchObject({ promptCaching: 'auto' });
    const third = await rotate(second.body.id, { promptCaching: 'off' });
    expect(third.body).toMatchObject({ label: 'heir', promptCaching: 'off' });
    expect(await known(third.body.id)).toMatchObject({ promptCaching: 'off' });
    for (const odd of ['on', true, null, 5]) {
      expect(await mint(odd), String(odd)).toMatchObject({ status: 400 });
    }
  });

  it('an agent key reports whether its agent has money, free or held', async () => {
    const { agent, headers, path } = await accounts.edge.agentOf('funded');
    const { id } = (await ask('POST', `${path}/keys`, { headers, body: {} })).body;
    const known = async () => {
      const [row] = await accounts.sql`select digest from agent_keys where id = ${id}`;
      return findAgentByDigest(accounts.sql, row?.digest);
    };
    expect(await known()).toMatchObject({ hasMoney: false });
    await accounts.sql`
      update agent_funds set credited_raw = 5, held_raw = 5 where agent_id = ${agent.agentId}`;
    expect(await known()).toMatchObject({ hasMoney: true });
  });

  it('an agent key opens no management route, and the refusal names the credential that does', async () => {
    const { key } = await accounts.edge.agentOf('wrong door');
    expect(await ask('GET', '/v1/developer/agents', { headers: key })).toMatchObject({
      status: 401,
      body: {
        error: 'developer_credential_required',
        next: { method: 'POST', path: '/v1/developer/keys' },
      },
    });
  });

  it('keys of a borrowing agent are refused after its delegation expires, except to close the agent', async () => {
    const { agentId, key } = await borrower('expires');
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).status).toBe(200);
    accounts.world.clock.advance(60_000);
    expect(await ask('GET', '/v1/agents/balance', { headers: key })).toMatchObject({
      status: 403,
      body: {
        error: 'delegation_expired',
        next: { method: 'POST', path: '/v1/developer/agents/{agentId}/renew-delegation' },
      },
    });
    expect(await ask('POST', '/v1/agents/close', { headers: key })).toMatchObject({
      status: 200,
      body: { status: 'closed' },
    });
    const found = await findAgent(accounts.world.sql, { agentId });
    expect(found?.status).toBe('closed');
  });

  it('keys of a prepaid agent work beyond its expirySeconds, since nothing was delegated', async () => {
    const headers = await accounts.edge.developer('outlives');
    const body = { ...PREPAID, expirySeconds: 60 };
    const { agentId } = (await ask('POST', '/v1/developer/agents', { headers, body })).body;
    const minted = await ask('POST', `/v1/developer/agents/${agentId}/keys`, { headers });
    accounts.world.clock.advance(3_600_000);
    const asked = await ask('GET', '/v1/agents/balance', { headers: bearer(minted.body.key) });
    expect(asked).toMatchObject({ status: 200, body: { delegationActive: true } });
  });
});

/** An agent with a credit line that is delegated for a minute. */
async function borrower(name: string) {
  const headers = await accounts.edge.developer(name);
  const body = { ...PREPAID, expirySeconds: 60, borrowLimitRaw: '5000000' };
  const { agentId } = (await ask('POST', '/v1/developer/agents', { headers, body })).body;
  const minted = await ask('POST', `/v1/developer/agents/${agentId}/keys`, { headers });
  return {
    headers,
    agentId,
    key: bearer(minted.body.key),
    path: `/v1/developer/agents/${agentId}`,
  };
}

describe('renewing a delegation', () => {
  it('a renewed delegation lets the agent keys work again at once for the new time, and is recorded', async () => {
    const { headers, agentId, key, path } = await borrower('renews');
    const before = (await ask('GET', path, { headers })).body.agent;
    accounts.world.clock.advance(120_000);
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).status).toBe(403);
    const body = { expirySeconds: 7_200 };
    const renewed = await ask('POST', `${path}/renew-delegation`, { headers, body });
    const operatorExpiry = String(Math.floor(accounts.world.clock.now() / 1_000) + 7_200);
    expect(renewed).toMatchObject({
      status: 200,
      body: { agentId, delegationActive: true, operatorExpiry, agent: { operatorExpiry } },
    });
    expect(renewed.body.delegationTxHash).not.toBe(before.delegationTxHash);
    const [permission] = await accounts.world.sql`
      select expiry, tx_hash from operator_permissions where agent_id = ${agentId}`;
    expect(permission).toEqual({
      expiry: BigInt(operatorExpiry),
      tx_hash: renewed.body.delegationTxHash,
    });
    expect(await ask('GET', '/v1/agents/balance', { headers: key })).toMatchObject({
      status: 200,
      body: { delegationActive: true },
    });
    // Without a time it counts as long as the last one.
    accounts.world.clock.advance(7_200_000);
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).status).toBe(403);
    expect(
      (await ask('POST', `${path}/renew-delegation`, { headers, body: {} })).body,
    ).toMatchObject({ operatorExpiry: String(Number(operatorExpiry) + 7_200) });
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).status).toBe(200);
  });

  it('a refused renewal of a delegation says why', async () => {
    const { headers, agentId, key, path } = await borrower('renewal refused');
    const renew = (how: Parameters<typeof ask>[2]) => ask('POST', `${path}/renew-delegation`, how);
    const tooLong = { expirySeconds: 31_536_001 };
    expect(await renew({ headers, body: tooLong })).toMatchObject({
      status: 400,
      body: { error: 'Invalid request' },
    });
    const stranger = await accounts.edge.developer('renews what is not hers');
    expect(await renew({ headers: stranger, body: {} })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    });
    expect((await renew({ headers: key, body: {} })).status).toBe(401);
    await ask('POST', `${path}/close`, { headers });
    expect(await renew({ headers, body: {} })).toMatchObject({
      status: 403,
      body: { error: 'account_closed' },
    });
    expect(agentId).toBeGreaterThan(0);
  });
});
