import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestSocket } from '../support/web-socket-client.ts';
import {
  ask,
  askGuide,
  type Developer,
  moneyOf,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

/** The time that an agent was made for has passed: what it may still do, in the whole server. */

let world: WholeWorld;
let developer: Developer;
beforeAll(async () => {
  world = await startWorld();
  developer = await newDeveloper(world.api, 'lapsed');
});
afterAll(() => world[Symbol.asyncDispose]());

/** An agent with a dollar and a key, whose time ended a second after the epoch. */
async function lapsed(name: string, more: { readonly borrowLimitRaw?: string } = {}) {
  const made = await ask(`${world.url}/v1/developer/agents`, {
    headers: developer.headers,
    body: { name, maxRateBps: 1_000, expirySeconds: 60, ...more },
  });
  const agentId = Number(made.body.agentId);
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': world.adminApiKey },
    body: { amountRaw: '1000000', reference: `start-${agentId}` },
  });
  const { key } = await developer.mintKey(agentId);
  await lapse(agentId);
  return { agentId, key, headers: { authorization: `Bearer ${key}` } };
}

/** The time of the agent ends now, and every process hears of it as of a change of its rules. */
async function lapse(agentId: number): Promise<void> {
  await world.sql`update agents set operator_expiry = 1 where id = ${agentId}`;
  await world.sql`
    update agent_funds set version = version + 1, rules_version = rules_version + 1
    where agent_id = ${agentId}`;
}

it('a live session of a prepaid agent opens and extends its hold after the delegation has ended', async () => {
  const { agentId, key } = await lapsed('live');
  const url = `${world.wsUrl}/v1/audio/transcriptions/stream?model=local/pocketsphinx&encoding=linear16&sample_rate=16000`;
  const socket = new TestSocket(url, [], { authorization: `Bearer ${key}` });
  await socket.opened();
  const { held } = await moneyOf(world.sql, agentId);
  expect(held).toBeGreaterThan(0n);
  await lapse(agentId);
  const second = Buffer.alloc(32_000);
  for (let i = 0; i < 9; i++) socket.ws.send(second);
  await expect.poll(async () => (await moneyOf(world.sql, agentId)).held).toBeGreaterThan(held);
  socket.ws.close(1000);
  expect(await socket.closed).toMatchObject({ code: 1000 });
});

it('a prepaid agent spends, reads, sets its limits and closes after its delegation has ended', async () => {
  const { key, headers } = await lapsed('prepaid');
  expect((await askGuide(world.url, key)).status).toBe(200);
  const limit = await ask(`${world.url}/v1/agents/spend-limit`, {
    method: 'PUT',
    headers,
    body: { limitRaw: '500000' },
  });
  expect(limit.status).toBe(200);
  expect((await askGuide(world.url, key)).status).toBe(200);
  const { body } = await ask(`${world.url}/v1/agents/balance`, { headers });
  expect(body.delegationActive).toBe(true);
  const closed = await ask(`${world.url}/v1/agents/close`, { method: 'POST', headers });
  expect([closed.status, closed.body.status]).toEqual([200, 'closed']);
});

it('a credit line whose delegation has ended spends nothing until it is renewed, and then at once', async () => {
  const { agentId, key } = await lapsed('credit line', { borrowLimitRaw: '5000000' });
  const refused = await askGuide(world.url, key);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    403,
    expect.stringContaining('delegation_expired'),
  ]);
  const path = `${world.url}/v1/developer/agents/${agentId}/renew-delegation`;
  const renewed = await ask(path, { headers: developer.headers, body: { expirySeconds: 3_600 } });
  expect(renewed.body).toMatchObject({ delegationActive: true });
  expect((await askGuide(world.url, key)).status).toBe(200);
});

it('the developer can close a credit line whose delegation has ended', async () => {
  const { agentId } = await lapsed('closes', { borrowLimitRaw: '5000000' });
  const path = `${world.url}/v1/developer/agents/${agentId}/close`;
  const closed = await ask(path, { method: 'POST', headers: developer.headers });
  expect([closed.status, closed.body.status]).toEqual([200, 'closed']);
});
