import { describe, expect, it } from 'vitest';
import { PREPAID, useAccountsEdge } from '../support/accounts-edge.ts';
import { bearer } from '../support/edge.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;

describe('agent keys', () => {
  it('are minted to spend unless asked otherwise, and listed by the same prefix', async () => {
    const { minted, headers, path, agent } = await accounts.edge.agentOf('mints');
    const { key, ...record } = minted;
    expect(key).toMatch(/^svc_[0-9a-f]{64}$/);
    expect(record).toEqual({
      id: expect.any(Number),
      keyId: record.id,
      keyPrefix: `${key.slice(0, 8)}...`,
      label: null,
      permissions: 'read_write',
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

  it('are revoked and rotated without a gap', async () => {
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

  it('open no management route, and say which key does', async () => {
    const { key } = await accounts.edge.agentOf('wrong door');
    expect(await ask('GET', '/v1/developer/agents', { headers: key })).toMatchObject({
      status: 401,
      body: {
        error: 'developer_credential_required',
        next: { method: 'POST', path: '/v1/developer/keys' },
      },
    });
  });

  it('stop with the delegation of their agent', async () => {
    const headers = await accounts.edge.developer('expires');
    const body = { ...PREPAID, expirySeconds: 60 };
    const { agentId } = (await ask('POST', '/v1/developer/agents', { headers, body })).body;
    const minted = await ask('POST', `/v1/developer/agents/${agentId}/keys`, { headers });
    const key = bearer(minted.body.key);
    expect((await ask('GET', '/v1/agents/balance', { headers: key })).status).toBe(200);
    accounts.world.clock.advance(60_000);
    expect(await ask('GET', '/v1/agents/balance', { headers: key })).toMatchObject({
      status: 403,
      body: { error: 'delegation_expired' },
    });
  });
});
