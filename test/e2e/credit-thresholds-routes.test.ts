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

describe('credit thresholds over HTTP', () => {
  const path = '/v1/agents/credit-thresholds';

  it('credit thresholds are created, listed and deleted over HTTP', async () => {
    await using agent = await aware.agentWith(1_000n);
    const headers = bearer(agent.key);
    const made = await aware.to(path, { headers, body: { thresholdBps: 8_000 } });
    expect(made.status).toBe(201);
    const id = Number(made.body.id);
    const threshold = {
      id,
      thresholdBps: 8_000,
      lastState: 'below',
      lastFiredAt: null,
      webhookId: null,
    };
    expect(made.body).toEqual(threshold);
    expect((await aware.to(path, { headers })).body).toEqual({ subscriptions: [threshold] });
    const remove = () => aware.to(`${path}/${id}`, { method: 'DELETE', headers });
    expect(await remove()).toMatchObject({ status: 200, body: { deleted: id } });
    expect(await remove()).toMatchObject({ status: 404, body: { error: 'not_found' } });
    expect((await aware.to(path, { headers })).body).toEqual({ subscriptions: [] });
  });

  it('credit thresholds belong to one agent, and no other agent sees them', async () => {
    await using agent = await aware.agentWith(1n);
    await using other = await aware.agentWith(1n);
    const made = await aware.to(path, { headers: bearer(agent.key), body: { thresholdBps: 1 } });
    const foreign = { method: 'DELETE', headers: bearer(other.key) };
    const id = Number(made.body.id);
    expect((await aware.to(`${path}/${id}`, foreign)).status).toBe(404);
    expect((await aware.to(`${path}/99999999999`, foreign)).status).toBe(404);
    expect((await aware.to(`${path}/x`, foreign)).status).toBe(400);
    expect((await aware.to(path, { headers: bearer(other.key) })).body).toEqual({
      subscriptions: [],
    });
  });

  it('credit thresholds are at most twenty per agent, and one more gets 409', async () => {
    await using agent = await aware.agentWith(1n);
    const headers = bearer(agent.key);
    for (let i = 1; i <= 20; i++) await aware.to(path, { headers, body: { thresholdBps: i } });
    expect(await aware.to(path, { headers, body: { thresholdBps: 21 } })).toMatchObject({
      status: 409,
      body: { error: 'limit_exceeded', max: 20 },
    });
  });

  it('credit thresholds accept only webhooks of their own account', async () => {
    await using agent = await aware.agentWith(1n);
    const headers = bearer(agent.key);
    const pinned = { headers, body: { thresholdBps: 5, webhookId: 1 } };
    expect(await aware.to(path, pinned)).toMatchObject({
      status: 404,
      body: { error: 'Webhook not found' },
    });
    const open = { headers, body: { thresholdBps: 5, webhookId: null } };
    expect((await aware.to(path, open)).status).toBe(201);
  });

  it('credit thresholds are refused to a read-only key, and to callers that are no agent', async () => {
    await using agent = await aware.agentWith(1n);
    const keys = `/v1/developer/agents/${agent.agentId}/keys`;
    const minted = await aware.to(keys, {
      headers: aware.developer.headers,
      body: { permissions: 'read' },
    });
    const headers = bearer(String(minted.body.key));
    expect((await aware.to(path, { headers })).status).toBe(200);
    expect(await aware.to(path, { headers, body: { thresholdBps: 5 } })).toMatchObject({
      status: 403,
      body: { error: 'read_only_key' },
    });
    expect(await aware.to(`${path}/1`, { method: 'DELETE', headers })).toMatchObject({
      status: 403,
      body: { error: 'read_only_key' },
    });
    expect((await aware.to(path)).status).toBe(401);
    expect(await aware.to(path, { headers: aware.developer.headers })).toMatchObject({
      status: 401,
      body: { error: 'wrong_credential_type' },
    });
  });

  it('credit thresholds with invalid numbers are refused, and nothing is written', async () => {
    await using agent = await aware.agentWith(1n);
    const headers = bearer(agent.key);
    for (const thresholdBps of [0, -1, 10_001, 1.5, '5000', null, undefined, true]) {
      const told = await aware.to(path, { headers, body: { thresholdBps } });
      expect([told.status, told.body.error], String(thresholdBps)).toEqual([
        400,
        'Invalid request',
      ]);
      expect(told.body.details).toMatchObject([{ path: ['thresholdBps'] }]);
    }
    for (const webhookId of [0, -1, 1.5, '1', {}]) {
      const told = await aware.to(path, { headers, body: { thresholdBps: 5, webhookId } });
      expect(told.body.details, String(webhookId)).toMatchObject([{ path: ['webhookId'] }]);
    }
    expect((await aware.to(path, { headers })).body).toEqual({ subscriptions: [] });
  });

  it('credit thresholds fire for purchases over HTTP', async () => {
    await using agent = await aware.agentWith(1_000n);
    const headers = bearer(agent.key);
    await aware.to(path, { headers, body: { thresholdBps: 1 } });
    expect((await askGuide(aware.world.url, agent.key)).status).toBe(200);
    const events = await aware.world.sql<{ name: string }[]>`
      select name from events where name like 'credit.%'
        and payload ->> 'agentId' = ${String(agent.agentId)}`;
    expect(events).toEqual([{ name: 'credit.warning' }]);
    expect((await aware.to(path, { headers })).body).toMatchObject({
      subscriptions: [{ lastState: 'above', lastFiredAt: expect.stringMatching(/Z$/) }],
    });
  });
});
