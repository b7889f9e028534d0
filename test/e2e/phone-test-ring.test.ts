import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectInboundRate } from '../support/call-receipts.ts';
import { greetWith } from '../support/carrier-world.ts';
import { rentNumber } from '../support/phone-world.ts';
import { ask, startWorld, type WholeWorld } from '../support/whole-world.ts';

/** Hangs up once it has heard the greeting begin. */
class ImpatientCaller {
  isGone = false;

  say(): undefined {}

  hear(frame: Uint8Array | undefined): void {
    if (frame !== undefined) this.isGone = true;
  }
}

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld({}, { calleeOf: async () => new ImpatientCaller() });
});
afterAll(() => world[Symbol.asyncDispose]());

async function numbered(name: string, amountRaw = 5_000_000n) {
  const agent = await world.fund(name, amountRaw);
  const phoneNumber = `+1415555${String(2_000 + agent.agentId).slice(0, 4)}`;
  await rentNumber(world.sql, agent.agentId, phoneNumber);
  await greetWith(world.sql, agent.agentId, 'Hello.');
  const [row] = await world.sql<{ id: number }[]>`
    select id from phone_numbers where agent_id = ${agent.agentId}`;
  const headers = { authorization: `Bearer ${agent.developerKey}` };
  const path = `${world.url}/v1/developer/agents/${agent.agentId}/numbers/${row?.id}/test-ring`;
  const ring = (body: object = {}) => ask(path, { headers, body });
  const events = async () =>
    world.sql<{ name: string; payload: Record<string, unknown> }[]>`
      select name, payload from events
      where agent_wallet = lower((select wallet_address from agents where id = ${agent.agentId})) and name like 'call.%' order by id`;
  return { ...agent, phoneNumber, ring, events };
}

describe('a stranger on the loopback carrier', () => {
  it('a test ring is answered by the agent of the number, at the inbound price, and reported by events', async () => {
    const agent = await numbered('answerer');
    const rung = await agent.ring({ from: '+12125550142' });
    const parties = { from: '+12125550142', to: agent.phoneNumber };
    expect(rung).toMatchObject({ status: 202, body: parties });
    const callId = String(rung.body.callId);
    expect(callId).toMatch(/^CA[0-9a-f]{32}$/);
    await expect.poll(async () => (await agent.events()).length, { timeout: 15_000 }).toBe(2);
    const [started, ended] = await agent.events();
    const call = { callId, direction: 'inbound', ...parties };
    expect(started).toMatchObject({ name: 'call.started', payload: call });
    expect(ended).toMatchObject({
      name: 'call.ended',
      payload: { ...call, reason: 'call_ended' },
    });
    expectInboundRate(ended?.payload);
  }, 30_000);

  it('a test ring is answered with the whole balance when that is less than the maximum hold of a call', async () => {
    const agent = await numbered('modest', 300_000n);
    const rung = await agent.ring();
    expect(rung.body.callId).not.toBeNull();
    await expect.poll(async () => (await agent.events()).length, { timeout: 15_000 }).toBe(2);
    const [started, ended] = await agent.events();
    expect(started).toMatchObject({ name: 'call.started' });
    expect(ended).toMatchObject({ name: 'call.ended', payload: { reason: 'call_ended' } });
    expectInboundRate(ended?.payload);
  }, 30_000);

  it('a test ring is refused when the balance covers no minute, and call.rejected reports that', async () => {
    const agent = await numbered('poor', 1_000n);
    expect(await agent.ring()).toMatchObject({ status: 202, body: { callId: null } });
    expect(await agent.events()).toMatchObject([
      { name: 'call.rejected', payload: { callId: null, reason: 'budget_exceeded' } },
    ]);
  });

  it('a test ring needs a valid caller number, and rings no number that was released or is of another account', async () => {
    const [agent, other] = [await numbered('owner'), await numbered('other')];
    expect(await agent.ring({ from: 'anonymous' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_from_number' },
    });
    const [row] = await world.sql<{ id: number }[]>`
      select id from phone_numbers where agent_id = ${agent.agentId}`;
    const foreign = await ask(
      `${world.url}/v1/developer/agents/${agent.agentId}/numbers/${row?.id}/test-ring`,
      { headers: { authorization: `Bearer ${other.developerKey}` }, body: {} },
    );
    expect(foreign.status).toBe(404);
    await world.sql`update phone_numbers set status = 'released' where id = ${row?.id ?? 0}`;
    expect(await agent.ring()).toMatchObject({ status: 409, body: { error: 'number_required' } });
  });
});
