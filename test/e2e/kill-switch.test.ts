import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

let world: WholeWorld;
let developer: Developer;
beforeAll(async () => {
  world = await startWorld();
  developer = await newDeveloper(world.api, 'watchful');
});
afterAll(() => world[Symbol.asyncDispose]());

it('an agent that its kill switch has suspended cannot undo anything with its own key, from the same instant on', async () => {
  const agentId = await developer.createAgent('stopped');
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': world.adminApiKey },
    body: { amountRaw: '1000000', reference: 'stopped' },
  });
  const { key } = await developer.mintKey(agentId);
  const headers = { authorization: `Bearer ${key}` };
  const made = await ask(`${world.url}/v1/developer/agents/${agentId}/policies`, {
    headers: developer.headers,
    body: { kind: 'api', matchKey: 'local', limitRaw: '1', action: 'suspend_agent' },
  });
  const { id } = made.body.policy as { id: number };
  const refused = await ask(`${world.url}/v1/chat/completions`, {
    headers,
    body: { model: 'local/guide', messages: [{ role: 'user', content: 'Hello?' }] },
  });
  expect(refused.status).toBe(402);
  expect(refused.body.error).toMatchObject({ code: 'budget_exhausted' });
  expect(JSON.stringify(refused.body)).toContain('"auto_suspended":true');
  for (const undo of [
    () => ask(`${world.url}/v1/agents/policies/${id}`, { method: 'DELETE', headers }),
    () => ask(`${world.url}/v1/agents/spend-limit`, { method: 'DELETE', headers }),
    () => ask(`${world.url}/v1/agents/credit-remaining`, { headers }),
  ]) {
    const { status, body } = await undo();
    expect([status, body.error]).toEqual([403, 'agent_suspended']);
  }
  const { body } = await ask(`${world.url}/v1/developer/agents/${agentId}`, {
    headers: developer.headers,
  });
  expect(body.agent).toMatchObject({ status: 'suspended', suspendedReason: `policy:${id}` });
  // Its owner undoes it, and it goes on.
  const path = `${world.url}/v1/developer/agents/${agentId}`;
  await ask(`${path}/policies/${id}`, { method: 'DELETE', headers: developer.headers });
  await ask(`${path}/status`, {
    method: 'PATCH',
    headers: developer.headers,
    body: { status: 'active' },
  });
  const again = await ask(`${world.url}/v1/chat/completions`, {
    headers,
    body: { model: 'local/guide', messages: [{ role: 'user', content: 'Hello?' }] },
  });
  expect(again.status).toBe(200);
});
