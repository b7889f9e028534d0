import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallLimits } from '../../../src/phone/call-limits/call-limits.ts';
import { admitStream } from '../../../src/phone/calls/call-store.ts';
import { createCalls } from '../../../src/phone/calls/calls.ts';
import { directCall, hearCarrier } from '../../../src/phone/calls/hear-carrier.ts';
import { receiveCall } from '../../../src/phone/calls/receive-call.ts';
import type { CarrierStatus } from '../../../src/phone/carriers/carrier.ts';
import { createSuspensions } from '../../../src/phone/suspensions/suspensions.ts';
import { openResponder } from '../../../src/phone/voice/open-responder.ts';
import { startCallWorld } from '../../support/call-world.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const REJECTED = { kind: 'reject', reason: 'rejected' };

async function admitted(ringing: Parameters<typeof receiveCall>[1]): Promise<string> {
  const received = await receiveCall(world.deps, ringing);
  if (received.kind === 'reject') throw new Error(`the call was ${received.reason}`);
  return received.callId;
}

/** Why calls from outside were not put through, in no order. */
const rejections = async (accountId: string) =>
  (
    await world.sql<{ payload: Record<string, unknown> }[]>`
      select payload from events where name = 'call.rejected' and account_id = ${accountId}`
  ).map(({ payload }) => payload.reason);

const status = (callId: string, carrierCallId: string, said: CarrierStatus, sequence: number) =>
  hearCarrier(world.deps, {
    kind: 'status',
    callId,
    carrierCallId,
    status: said,
    sequence,
    durationSeconds: null,
    priceRaw: null,
  });

describe('what a carrier reports', () => {
  it('a carrier callback that is late, repeated or out of order changes nothing that a later callback has set', async () => {
    const { callId, carrierCallId } = await world.call(await world.agent());
    await status(callId, carrierCallId, 'busy', 3);
    for (const [said, sequence] of [
      ['ringing', 1],
      ['queued', 0],
      ['busy', 3],
      ['in-progress', 2],
    ] as const) {
      await status(callId, carrierCallId, said, sequence);
    }
    expect(await world.row(callId)).toMatchObject({
      carrier_status: 'busy',
      status: 'pending',
      terminal: true,
      end_reason: 'dial_busy',
    });
    const again = {
      kind: 'answered',
      callId,
      carrierCallId,
      from: 'a',
      to: 'b',
      isAgain: false,
    } as const;
    expect(await directCall(world.deps, again)).toEqual({ kind: 'hang_up' });
  });

  it.each([
    ['busy', 'dial_busy', 'pending'],
    ['no-answer', 'dial_no_answer', 'pending'],
    ['canceled', 'dial_canceled', 'pending'],
    ['failed', 'dial_failed', 'failed'],
    ['invalid', 'dial_invalid', 'failed'],
    ['completed', 'call_ended', 'pending'],
  ] as const)(
    'an unanswered call that ends as %s is reported once, with the reason that belongs to this status',
    async (said, reason, state) => {
      const agent = await world.agent();
      const { callId, carrierCallId } = await world.call(agent);
      await Promise.all([1, 2].map(() => status(callId, carrierCallId, said, 3)));
      const events = await world.sql<{ name: string; payload: Record<string, unknown> }[]>`
      select name, payload from events where correlation_id = ${callId}`;
      expect(events).toMatchObject([
        { name: 'call.rejected', payload: { callId, reason, phoneNumber: agent.phoneNumber } },
      ]);
      const read = await createCalls(world.deps).read(agent.agentId, callId);
      expect(read).toMatchObject({ status: state, terminal: true, endReason: reason });
    },
  );

  it("a carrier's end of a call erases the summary for the person to whom the call was transferred", async () => {
    const { callId, carrierCallId } = await world.call(await world.agent(), { answered: true });
    await world.sql`update calls set transfer_summary = 'A refund.' where id = ${callId}`;
    await status(callId, carrierCallId, 'in-progress', 2);
    expect(await world.row(callId)).toMatchObject({ transfer_summary: 'A refund.' });
    await status(callId, carrierCallId, 'completed', 3);
    expect(await world.row(callId)).toMatchObject({ transfer_summary: null });
  });

  it('a call admits one media stream for each request for instructions, and none before the first', async () => {
    const { callId, carrierCallId } = await world.call(await world.agent());
    expect(await admitStream(world.sql, callId)).toBeUndefined();
    const asks = {
      kind: 'answered',
      callId,
      carrierCallId,
      from: 'a',
      to: 'b',
      isAgain: false,
    } as const;
    expect(await directCall(world.deps, asks)).toEqual({ kind: 'stream', callId });
    const streams = await Promise.all([1, 2, 3].map(() => admitStream(world.sql, callId)));
    expect(streams.filter((call) => call !== undefined)).toHaveLength(1);
    await directCall(world.deps, { ...asks, isAgain: true });
    expect(await admitStream(world.sql, callId)).toMatchObject({ callId });
  });

  it('a carrier callback about its spend limit suspends the phone service of every account, even one that rents a number later', async () => {
    const said = { kind: 'usage', thresholdRaw: null, firedAtMs: null } as const;
    const suspensions = createSuspensions(world.deps);
    const deps = { ...world.deps, carrierLimitUsd: 20 };
    const lastMonth = { firedAtMs: Date.now() - 32 * 86_400_000, spentRaw: 21_000_000n };
    await hearCarrier(deps, { ...said, spentRaw: 19_999_999n });
    await hearCarrier(deps, { ...said, ...lastMonth });
    expect((await suspensions.list({ after: '', limit: 10 })).everyAccount).toBeNull();
    await hearCarrier(world.deps, { ...said, spentRaw: null });
    const agent = await world.agent();
    const ringing = { carrierCallId: 'LB1', from: '+14155550111', to: agent.phoneNumber };
    expect(await receiveCall(world.deps, ringing)).toEqual(REJECTED);
    const [event] = await world.sql<{ payload: Record<string, unknown> }[]>`
      select payload from events where name = 'call.rejected' and account_id = ${agent.accountId}`;
    expect(event?.payload).toMatchObject({ callId: null, reason: 'telephony_suspended' });
    const order = { ...agent, spender: {}, to: '+14155550199', maxSpendRaw: undefined };
    const asked = { detectsMachine: false, wantsReport: false, isRecorded: false };
    const calls = createCalls({ ...world.deps, refusalOf: async () => undefined });
    await expect(calls.place({ ...order, ...asked })).rejects.toMatchObject({
      error: 'telephony_suspended',
    });
    const listed = await suspensions.list({ after: '', limit: 10 });
    expect(listed.everyAccount).toMatchObject({ reason: 'carrier_usage' });
    expect(await suspensions.liftAll('carrier_usage')).toBe(1);
    expect(await receiveCall(world.deps, ringing)).toBeDefined();
  });
});

describe('a call from outside', () => {
  it('an inbound call to a number of an agent that can pay is admitted once, however often it is reported', async () => {
    const agent = await world.agent();
    const ringing = { carrierCallId: 'LBin', from: '+14155550111', to: agent.phoneNumber };
    const callId = await admitted(ringing);
    expect(await admitted(ringing)).toBe(callId);
    expect(await world.row(callId)).toMatchObject({
      direction: 'inbound',
      from_number: '+14155550111',
      to_number: agent.phoneNumber,
      task_id: callId.toLowerCase(),
    });
    expect(await world.main.ledger.funds(agent.agentId)).toMatchObject({ heldRaw: 0n });
  });

  it('an inbound call is refused when the balance does not cover a minute, and its developer is told why', async () => {
    const agent = await world.agent(1_000n);
    const ringing = { carrierCallId: 'LBpoor', from: '+14155550111', to: agent.phoneNumber };
    expect(await receiveCall(world.deps, ringing)).toEqual(REJECTED);
    const [event] = await world.sql<{ payload: Record<string, unknown> }[]>`
      select payload from events where name = 'call.rejected' and account_id = ${agent.accountId}`;
    expect(event?.payload).toMatchObject({
      direction: 'inbound',
      phoneNumber: agent.phoneNumber,
      reason: 'budget_exceeded',
    });
    const rows = await world.sql`select 1 from calls where agent_id = ${agent.agentId}`;
    expect(rows).toHaveLength(0);
  });

  const givesUp = (carrierCallId: string) =>
    hearCarrier(world.deps, {
      kind: 'status',
      callId: undefined,
      carrierCallId,
      status: 'canceled',
      sequence: 3,
      durationSeconds: null,
      priceRaw: null,
    });
  const rung = (carrierCallId: string, to: string) =>
    directCall(world.deps, {
      kind: 'answered',
      callId: undefined,
      carrierCallId,
      from: '+14155550111',
      to,
      isAgain: false,
    });

  it('an inbound call whose caller gave up before admission is over, and takes no concurrency slot of its agent', async () => {
    const agent = await world.agent();
    for (const n of [1, 2, 3, 4]) {
      await givesUp(`LBearly${n}`);
      expect(await rung(`LBearly${n}`, agent.phoneNumber)).toEqual({ kind: 'hang_up' });
    }
    const rows = await world.sql`
      select distinct end_reason, terminal from calls where agent_id = ${agent.agentId}`;
    expect(rows).toEqual([{ end_reason: 'dial_canceled', terminal: true }]);
    expect(await rejections(agent.accountId)).toEqual(Array(4).fill('dial_canceled'));
    expect(await rung('LBearly5', agent.phoneNumber)).toMatchObject({ kind: 'stream' });
  });

  it('an inbound call whose caller gives up during admission takes no concurrency slot, in any order of callbacks', async () => {
    const agent = await world.agent();
    await Promise.all(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
        Promise.all([rung(`LBrace${n}`, agent.phoneNumber), givesUp(`LBrace${n}`)]),
      ),
    );
    const [open] = await world.sql`
      select count(*)::int from calls where agent_id = ${agent.agentId} and not terminal`;
    expect(open).toEqual({ count: 0 });
  });

  it('an inbound call is not ended by a report of an end more than a minute before it', async () => {
    const agent = await world.agent();
    await givesUp('LBold');
    await world.sql`update calls_ended_early set at = now() - interval '61 seconds'`;
    await givesUp('LBother');
    expect(await rung('LBold', agent.phoneNumber)).toMatchObject({ kind: 'stream' });
  });

  it('inbound calls are limited by the concurrency of their agent and account, which may exceed the default', async () => {
    const agent = await world.agent();
    await world.sql`insert into voice_settings (agent_id, calls_at_once) values (${agent.agentId}, 5)`;
    const ring = (n: number) => rung(`LBset${n}`, agent.phoneNumber);
    for (const n of [1, 2, 3, 4, 5]) expect(await ring(n)).toMatchObject({ kind: 'stream' });
    expect(await ring(6)).toEqual({ kind: 'reject', reason: 'busy' });
    const limits = createCallLimits(world.deps);
    await world.sql`update voice_settings set calls_at_once = 50 where agent_id = ${agent.agentId}`;
    expect(await limits.set(agent.accountId, 6)).toMatchObject({ concurrentCalls: 6 });
    expect(await ring(7)).toMatchObject({ kind: 'stream' });
    expect(await ring(8)).toEqual({ kind: 'reject', reason: 'busy' });
    expect(await limits.set(agent.accountId, null)).toMatchObject({ concurrentCalls: null });
    for (const n of [9, 10, 11, 12]) expect(await ring(n)).toMatchObject({ kind: 'stream' });
    expect(await ring(13)).toEqual({ kind: 'reject', reason: 'busy' });
    await expect(limits.read('nobody')).rejects.toMatchObject({ status: 404 });
  });

  it('an inbound call hears busy while its agent has its maximum of calls, and is admitted once one is over', async () => {
    const agent = await world.agent();
    const rings = (n: number) =>
      directCall(world.deps, {
        kind: 'answered',
        callId: undefined,
        carrierCallId: `LBmany${n}`,
        isAgain: false,
        from: '+14155550111',
        to: agent.phoneNumber,
      });
    const calls = await Promise.all([1, 2, 3].map(rings));
    expect(calls.map(({ kind }) => kind)).toEqual(['stream', 'stream', 'stream']);
    expect(await rings(4)).toEqual({ kind: 'reject', reason: 'busy' });
    expect(await rejections(agent.accountId)).toEqual(['call_limit']);
    const [first] = calls;
    if (first?.kind === 'stream') await status(first.callId, 'LBmany1', 'canceled', 5);
    expect(await rings(5)).toMatchObject({ kind: 'stream' });
  });

  it('an inbound call is refused when no key may buy the voice model, and is admitted once a key allows it', async () => {
    const agent = await world.agent();
    const ringing = { carrierCallId: 'LBkeyed', from: '+14155550111', to: agent.phoneNumber };
    const voice = await world.deps.voiceOf(agent.agentId);
    for (const model of ['keyed/talker', 'gone/talker']) {
      const deps = { ...world.deps, voiceOf: async () => ({ ...voice, model }) };
      expect(await receiveCall(deps, ringing)).toEqual(REJECTED);
    }
    const unsold = 'voice_model_unavailable';
    expect(await rejections(agent.accountId)).toEqual([unsold, unsold]);
    const providerKeys = { find: async () => 'sk-own', noteUse: async () => {} };
    const keyed = {
      ...world.deps,
      voiceOf: async () => ({ ...voice, model: 'keyed/talker' }),
      cascades: { ...world.deps.cascades, providerKeys },
    };
    expect(await receiveCall(keyed, ringing)).toMatchObject({ kind: 'admitted' });
  });

  it('an inbound call to a number that is not rented is refused', async () => {
    const ringing = { carrierCallId: 'LBno', from: '+14155550111', to: '+14155559999' };
    expect(await receiveCall(world.deps, ringing)).toEqual(REJECTED);
  });
});

it('an inbound call to an agent in hosted mode has no webhook as its responder', async () => {
  const { callId } = await world.call(await world.agent());
  const [row] = await world.sql<
    { options: never }[]
  >`select options from calls where id = ${callId}`;
  const call = { callId, options: row?.options } as never;
  expect(
    openResponder(
      { ...world.deps, client: {} as never, guard: {} as never, line: {} as never },
      call,
      {},
    ),
  ).toBeUndefined();
});
