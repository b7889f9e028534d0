import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCall } from '../../../src/phone/calls/call-store.ts';
import { createCalls } from '../../../src/phone/calls/calls.ts';
import { endRefused } from '../../../src/phone/calls/ending/end-refused.ts';
import { openCall } from '../../../src/phone/calls/open-call.ts';
import { leastReserve } from '../../../src/phone/calls/opening/least-reserve.ts';
import { receiveCall } from '../../../src/phone/calls/receive-call.ts';
import { aCall } from '../../support/a-call.ts';
import { aPolicy } from '../../support/a-policy.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { insertPolicy } from '../../support/policy-arbitrary.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const PARTS = {
  format: { encoding: 'mulaw', sampleRateHz: 8_000 },
  responder: undefined,
  prompt: () => '',
  spoken: () => ({ characters: 0, seconds: 0 }),
} as never;

let rings = 0;
const ringing = (to: string) => ({ carrierCallId: `LBr${++rings}`, from: '+14155550111', to });

function placing() {
  const dialled: string[] = [];
  const { carrier } = world.deps;
  const dial = async ({ callId }: { readonly callId: string }) => {
    dialled.push(callId);
    return { carrierCallId: `LB${callId}` };
  };
  const deps = { ...world.deps, carrier: { ...carrier, calls: { ...carrier.calls, dial } } };
  return { dialled, calls: createCalls({ ...deps, refusalOf: async () => undefined }) };
}

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

async function capMaker(
  { accountId, agentId }: { readonly accountId: string; readonly agentId: number },
  limitRaw: bigint,
) {
  const cap = { kind: 'api', matchKind: 'host_exact', matchKey: 'sold' } as const;
  await insertPolicy(world.sql, { accountId, agentId }, aPolicy({ ...cap, limitRaw }));
  await world.sql`update agent_funds set rules_version = rules_version + 1, version = version + 1
    where agent_id = ${agentId}`;
}

it('a call is not placed when a cap on the maker of its model leaves too little for one response', async () => {
  const agent = await world.agent();
  await capMaker(agent, 10_000n);
  const { dialled, calls } = placing();
  const order = { ...agent, spender: {}, to: '+14155550199', maxSpendRaw: undefined };
  const asked = { detectsMachine: false, wantsReport: false, isRecorded: false };
  await expect(calls.place({ ...order, ...asked })).rejects.toMatchObject({
    error: 'policy_exceeded',
  });
  expect([dialled, await funds(agent.agentId)]).toMatchObject([[], { held: 0n, consumed: 0n }]);
});

describe('a call from outside', () => {
  it('an inbound call is not answered when the balance pays for a minute but for no turn of its model', async () => {
    const agent = await world.agent(30_000n);
    const voice = await world.deps.voiceOf(agent.agentId);
    const deps = { ...world.deps, voiceOf: async () => ({ ...voice, model: 'dear/talker' }) };
    expect(await receiveCall(deps, ringing(agent.phoneNumber))).toMatchObject({ kind: 'reject' });
    expect(await events(agent.accountId)).toEqual([['call.rejected', 'budget_exceeded']]);
    expect(await world.sql`select 1 from calls where agent_id = ${agent.agentId}`).toHaveLength(0);
    expect(await funds(agent.agentId)).toEqual({ spendable: 30_000n, held: 0n, consumed: 0n });
  });

  it("an inbound call is answered only when the cap on its model's maker leaves at least a short response", async () => {
    const agent = await world.agent();
    const least = await leastReserve(world.deps, aCall());
    const shortestRaw = least?.answer.raw ?? 0n;
    await capMaker(agent, shortestRaw - 1n);
    expect(await receiveCall(world.deps, ringing(agent.phoneNumber))).toMatchObject({
      kind: 'reject',
    });
    expect(await events(agent.accountId)).toEqual([['call.rejected', 'budget_exceeded']]);
    expect(await funds(agent.agentId)).toMatchObject({ held: 0n, consumed: 0n });
    const other = await world.agent();
    await capMaker(other, shortestRaw);
    expect(await receiveCall(world.deps, ringing(other.phoneNumber))).toMatchObject({
      kind: 'admitted',
    });
  });

  it('an inbound call costs nothing and reports why when another call took the balance between its ring and its answer', async () => {
    const agent = await world.agent(100_000n);
    const { agentId, accountId } = agent;
    const received = await receiveCall(world.deps, ringing(agent.phoneNumber));
    const callId = received.kind === 'admitted' ? received.callId : '';
    await world.main.ledger.hold({
      spender: { agentId },
      holdId: `rival ${callId}`,
      amountRaw: 95_000n,
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
