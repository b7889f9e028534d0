import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCall } from '../../../src/phone/calls/call-store.ts';
import { endRefused } from '../../../src/phone/calls/ending/end-refused.ts';
import { openCall } from '../../../src/phone/calls/open-call.ts';
import { receiveCall } from '../../../src/phone/calls/receive-call.ts';
import { startCallWorld } from '../../support/call-world.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const PARTS = {
  format: { encoding: 'mulaw', sampleRateHz: 8_000 },
  brain: undefined,
  prompt: () => '',
  spoken: () => ({ characters: 0, seconds: 0 }),
} as never;

let rings = 0;
const ringing = (to: string) => ({ carrierCallId: `LBr${++rings}`, from: '+14155550111', to });

const events = async (accountId: string) =>
  (
    await world.sql<{ name: string; reason: string }[]>`
      select name, payload ->> 'reason' as reason from events
      where account_id = ${accountId} and name like 'call.%' order by id`
  ).map(({ name, reason }) => [name, reason]);

async function funds(agentId: number) {
  const [row] = await world.sql<{ spendable: bigint; held: bigint; consumed: bigint }[]>`
    select spendable_raw as spendable, held_raw as held, consumed_raw as consumed
    from agent_funds where agent_id = ${agentId}`;
  return row;
}

describe('a call from outside', () => {
  it('is not picked up where what is left pays for a minute and for no turn of its model', async () => {
    const agent = await world.agent(30_000n);
    const voice = await world.deps.voiceOf(agent.agentId);
    const deps = { ...world.deps, voiceOf: async () => ({ ...voice, model: 'dear/talker' }) };
    expect(await receiveCall(deps, ringing(agent.phoneNumber))).toMatchObject({ kind: 'reject' });
    expect(await events(agent.accountId)).toEqual([['call.rejected', 'budget_exceeded']]);
    expect(await world.sql`select 1 from calls where agent_id = ${agent.agentId}`).toHaveLength(0);
    expect(await funds(agent.agentId)).toEqual({ spendable: 30_000n, held: 0n, consumed: 0n });
  });

  it('costs nothing and says why where a rival has taken the room between its ring and its answer', async () => {
    const agent = await world.agent(100_000n);
    const { agentId, accountId } = agent;
    const received = await receiveCall(world.deps, ringing(agent.phoneNumber));
    const callId = received.kind === 'admitted' ? received.callId : '';
    await world.main.ledger.hold({
      ...{ spender: { agentId }, holdId: `rival ${callId}`, amountRaw: 95_000n },
      destination: { host: 'acme.test', payee: null },
    });
    const call = await findCall(world.sql, callId);
    if (call === undefined) throw new Error('the call was admitted');
    const opened = await openCall(world.deps, call, PARTS);
    expect(opened).toEqual({ kind: 'refused', reason: 'budget_exhausted', receipt: undefined });
    if (opened.kind === 'refused') await endRefused(world.deps, call, opened);
    expect(await world.row(callId)).toMatchObject({
      status: 'failed',
      terminal: true,
      end_reason: 'budget_exhausted',
      transport_raw: 0n,
    });
    expect(await events(accountId)).toEqual([['call.ended', 'budget_exhausted']]);
    expect(await funds(agentId)).toEqual({ spendable: 5_000n, held: 95_000n, consumed: 0n });
    expect(await world.faults()).toEqual([]);
  });
});
