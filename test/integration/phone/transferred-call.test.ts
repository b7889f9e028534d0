import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createCallMoney } from '../../../src/phone/calls/call-money.ts';
import { admitStream, findCall } from '../../../src/phone/calls/call-store.ts';
import { createCalls } from '../../../src/phone/calls/calls.ts';
import { closeCall } from '../../../src/phone/calls/ending/close-call.ts';
import { createCallEnder } from '../../../src/phone/calls/ending/end-unwanted.ts';
import { hearCarrier } from '../../../src/phone/calls/hear-carrier.ts';
import { insertCall } from '../../../src/phone/calls/opening/new-call-store.ts';
import { createCallSweeper } from '../../../src/phone/calls/sweep/sweep-calls.ts';
import { startCallWorld } from '../../support/call-world.ts';

const RESERVE_RAW = 2_000_000n;

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A call of 12 s in which was spoken, which its living process has transferred to a person who has answered. */
async function transferred() {
  const agent = await world.agent();
  const { callId, carrierCallId } = await world.call(agent, { answered: true });
  await world.record(carrierCallId, 'in-progress');
  const call = await findCall(world.sql, callId);
  const taken = await world.deps.takeSession(callId);
  if (call === undefined || taken === undefined) throw new Error('the call lives');
  const deps = { ledger: world.main.ledger, clock: systemClock, log: silentLog };
  const money = createCallMoney(deps, call, { taken, wallet: null });
  const used = { lineSeconds: 12, sttSeconds: 4, ttsCharacters: 100 };
  const { costRaw, usage } = money.meter.charge(used);
  await money.holds.journal([{ sessionHold: '', costRaw, usage }]);
  await money.holds.settle({ reason: 'call_transfer', status: 'success' });
  await closeCall(world.deps, {
    call,
    live: { line: { close() {} } as never, lineFigures: { jitterMs: 0 } as never },
    money,
    over: Promise.resolve(),
    turns: { flushed: async () => {} },
  });
  return { agent, callId, carrierCallId };
}

async function sweptAfter(callId: string): Promise<void> {
  await world.due(callId);
  await world.sweep();
}

describe('a call that was transferred', () => {
  it('a transferred call keeps its hold, its row and its concurrency slot while caller and new callee talk', async () => {
    const { agent, callId, carrierCallId } = await transferred();
    await sweptAfter(callId);
    expect(await world.row(callId)).toMatchObject({
      status: 'ending',
      terminal: false,
      end_reason: 'call_transfer',
    });
    expect(await world.main.ledger.funds(agent.agentId)).toMatchObject({ heldRaw: RESERVE_RAW });
    expect(await world.ended(callId)).toEqual([]);
    expect(world.hungUp).not.toContain(carrierCallId);
    const call = await findCall(world.sql, callId);
    if (call === undefined) throw new Error('the call was written');
    const next = { ...call, callId: `CA${'0'.repeat(32)}`, carrierCallId: null, dueInMs: 0 };
    expect(await insertCall(world.sql, next, { agent: 1, account: 1 })).toMatchObject({
      kind: 'full',
    });
  });

  it('a transferred call admits no media stream any more, even if instructions were requested for one', async () => {
    const { callId } = await transferred();
    await world.sql`update calls set streams_asked = streams_opened + 1 where id = ${callId}`;
    expect(await admitStream(world.sql, callId)).toBeUndefined();
  });

  it.each([
    ['by any number of processes', false],
    ['also once its own process is lost', true],
  ])(
    'a transferred call is settled once by the carrier’s duration and the usage before the transfer, %s',
    async (_, lost) => {
      const { agent, callId, carrierCallId } = await transferred();
      if (lost) await world.loseProcess(callId);
      await world.record(carrierCallId, 'completed', 600);
      await world.due(callId);
      const others = [1, 2].map(() => createCallSweeper(world.deps).tick());
      await Promise.all([world.sweep(), ...others]);
      await sweptAfter(callId);
      const legs = { transportRaw: 147_000n, sttRaw: 300n, ttsRaw: 5_250n };
      expect(await world.row(callId)).toMatchObject({
        status: 'completed',
        terminal: true,
        end_reason: 'call_transfer',
        is_backstop: false,
        duration_seconds: 600,
        transport_raw: legs.transportRaw,
        stt_raw: legs.sttRaw,
        tts_raw: legs.ttsRaw,
      });
      const ended = await world.ended(callId);
      expect(ended).toMatchObject([
        {
          reason: 'call_transfer',
          durationSeconds: 600,
          taskId: callId.toLowerCase(),
          transportRaw: '147000',
          sttRaw: '300',
          ttsRaw: '5250',
        },
      ]);
      expect(ended[0]).not.toHaveProperty('backstop');
      expect(await world.main.ledger.funds(agent.agentId)).toMatchObject({
        spendableRaw: 5_000_000n - 152_550n,
        heldRaw: 0n,
      });
      const charges = await world.sql`select cost_raw, task_id from charges
      where agent_id = ${agent.agentId} order by cost_raw`;
      expect(charges.map((row) => [row.cost_raw, row.task_id])).toEqual(
        [300n, 5_250n, 147_000n].map((raw) => [raw, callId.toLowerCase()]),
      );
      expect(await world.faults()).toEqual([]);
    },
  );

  it('a transferred call gets its row from its receipt when the sweeper died between the two', async () => {
    const { callId, carrierCallId } = await transferred();
    await world.record(carrierCallId, 'completed', 600);
    await sweptAfter(callId);
    await world.sql`update calls set status = 'ending', terminal = false, duration_seconds = null,
      transport_raw = null, due_at = now() where id = ${callId}`;
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({
      terminal: true,
      end_reason: 'call_transfer',
      is_backstop: false,
      duration_seconds: 600,
      transport_raw: 147_000n,
    });
    expect(await world.ended(callId)).toHaveLength(1);
  });

  it('a transferred call of a carrier that this process cannot query is settled once its hour is over', async () => {
    const { callId } = await transferred();
    await world.sql`update calls set carrier = 'twilio' where id = ${callId}`;
    const orphaned = () => world.sql`
      update calls set due_at = now() - interval '2 minutes' where id = ${callId}`;
    await orphaned();
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ terminal: false });
    await world.sql`update calls set started_at = now() - interval '2 hours' where id = ${callId}`;
    await orphaned();
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ terminal: true, transport_raw: 2_940n });
  });

  it('a transferred call costs no more than the time until its line ended, even if the carrier reports a longer duration', async () => {
    const { callId, carrierCallId } = await transferred();
    await world.began(callId, 30);
    world.say(carrierCallId, 'completed', 86_400);
    await sweptAfter(callId);
    const row = await world.row(callId);
    const seconds = Number(row?.duration_seconds);
    expect(row).toMatchObject({ terminal: true, transport_raw: BigInt(seconds) * 245n });
    expect(seconds).toBeGreaterThanOrEqual(31);
    expect(seconds).toBeLessThanOrEqual(34);
  });

  it('a transferred call costs its usage before the transfer when the carrier reports less, or nothing', async () => {
    const [short, unknown] = [await transferred(), await transferred()];
    await world.record(short.carrierCallId, 'completed', 3);
    await world.record(unknown.carrierCallId, 'completed');
    for (const { callId } of [short, unknown]) {
      await sweptAfter(callId);
      expect(await world.row(callId)).toMatchObject({ terminal: true, transport_raw: 2_940n });
    }
  });
});

describe('the line of a call that was transferred', () => {
  it('the line of a transferred call is hung up by its agent, although the carrier fails the first hang-up', async () => {
    const { agent, callId, carrierCallId } = await transferred();
    world.hangUps.fails = 2;
    const ending = await createCalls(world.deps).hangUp({ agentId: agent.agentId }, callId);
    expect(ending).toMatchObject({ status: 'ending', terminal: false });
    await sweptAfter(callId);
    expect(world.hungUp).not.toContain(carrierCallId);
    await sweptAfter(callId);
    expect(world.hungUp).toContain(carrierCallId);
    // The reason is the first that came.
    await world.record(carrierCallId, 'completed', 60);
    await sweptAfter(callId);
    expect(await world.ended(callId)).toMatchObject([
      { reason: 'call_transfer', durationSeconds: 60 },
    ]);
  });

  it.each(['suspended', 'closed', 'of a key that is revoked'] as const)(
    'the line of a transferred call is hung up once its agent is stopped (%s)',
    async (stop) => {
      const { agent, callId, carrierCallId } = await transferred();
      const going = await transferred();
      if (stop === 'of a key that is revoked') {
        const [key] = await world.sql<{ id: number }[]>`
          select id from agent_keys where agent_id = ${agent.agentId}`;
        await world.sql`update calls set key_id = ${key?.id ?? 0} where id = ${callId}`;
        await world.sql`update agent_keys set revoked_at = now() where id = ${key?.id ?? 0}`;
      } else await world.sql`update agents set status = ${stop} where id = ${agent.agentId}`;
      await world.sweep();
      expect(world.hungUp).toContain(carrierCallId);
      expect(world.hungUp).not.toContain(going.carrierCallId);
      await world.record(carrierCallId, 'completed', 60);
      await sweptAfter(callId);
      expect(await world.row(callId)).toMatchObject({ terminal: true, transport_raw: 14_700n });
    },
  );

  it('the search for lines of transferred calls makes no query while the process has no call', async () => {
    const asked: string[] = [];
    const sql = new Proxy(world.sql, {
      apply(target, self, args) {
        asked.push(String(args[0]));
        return Reflect.apply(target, self, args);
      },
    });
    await createCallEnder({ ...world.deps, sql }).tick();
    expect(asked).toEqual([]);
  });

  it('the line of a transferred call is looked up some seconds after the carrier has reported its end', async () => {
    const { callId, carrierCallId } = await transferred();
    await world.sql`update calls set due_at = now() + interval '1 hour' where id = ${callId}`;
    await hearCarrier(world.deps, {
      kind: 'status',
      callId,
      carrierCallId,
      status: 'completed',
      sequence: 9,
      durationSeconds: 60,
      priceRaw: null,
    });
    const [row] = await world.sql`select due_at < now() + interval '6 seconds' as soon
      from calls where id = ${callId}`;
    expect(row).toEqual({ soon: true });
  });
});
