import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Call } from '../../../src/phone/calls/call.ts';
import { callEnded } from '../../../src/phone/calls/call-events.ts';
import { createCallMoney } from '../../../src/phone/calls/call-money.ts';
import { findCall } from '../../../src/phone/calls/call-store.ts';
import { createCalls } from '../../../src/phone/calls/calls.ts';
import { createCallEnder } from '../../../src/phone/calls/ending/end-unwanted.ts';
import { hearCarrier } from '../../../src/phone/calls/hear-carrier.ts';
import type { LiveCall } from '../../../src/phone/calls/live-call.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import { startCallWorld } from '../../support/call-world.ts';

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function found(callId: string): Promise<Call> {
  const call = await findCall(world.sql, callId);
  if (call === undefined) throw new Error('the call was written');
  return call;
}

describe('a call that no process ends', () => {
  it('a call whose process is lost is settled once by the carrier’s duration, without transcription and speech costs', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    const { ledger } = world.main;
    await world.loseProcess(callId);
    await world.record(carrierCallId, 'completed', 61);
    await Promise.all([world.sweep(), world.sweep(), world.sweep()]);
    expect(await world.row(callId)).toMatchObject({
      status: 'completed',
      terminal: true,
      is_backstop: true,
      transport_raw: 14_945n,
      stt_raw: 0n,
      tts_raw: 0n,
    });
    expect(await world.ended(callId)).toEqual([
      expect.objectContaining({
        reason: 'backstop_settled',
        backstop: true,
        durationSeconds: 61,
        transportRaw: '14945',
        sttRaw: '0',
        ttsRaw: '0',
      }),
    ]);
    expect(await ledger.funds(agent.agentId)).toMatchObject({
      spendableRaw: 5_000_000n - 14_945n,
      heldRaw: 0n,
    });
    const charges = await world.sql`
      select target_url, cost_raw from charges where agent_id = ${agent.agentId}`;
    expect(charges).toEqual([
      { target_url: `phone://${agent.phoneNumber}/call/${callId}`, cost_raw: 14_945n },
    ]);
    expect(await world.faults()).toEqual([]);
  });

  it('a call whose process is lost never costs more than its hold, even if the carrier reports a longer duration', async () => {
    const agent = await world.agent();
    const reserveRaw = 19_200n;
    const { callId, carrierCallId } = await world.call(agent, { answered: true, reserveRaw });
    await world.loseProcess(callId);
    await world.record(carrierCallId, 'completed', 3_600);
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ transport_raw: reserveRaw, terminal: true });
    expect(await world.main.ledger.funds(agent.agentId)).toMatchObject({
      spendableRaw: 5_000_000n - reserveRaw,
      heldRaw: 0n,
    });
    const [shortfall] = await world.sql`
      select 1 from postings where id = ${`resolve:${callId}`} and 'shortfall:loopback' = any (debits)`;
    expect(shortfall).toBeDefined();
  });

  it('a call that has ended at the carrier is left to its living process at first, and settled by the sweeper later', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    await world.record(carrierCallId, 'completed', 1);
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ status: 'in_progress', terminal: false });
    await world.sql`update calls set started_at = now() - interval '2 minutes' where id = ${callId}`;
    await world.due(callId);
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ terminal: true, is_backstop: true });
  });

  it.each([
    ['busy', 'pending', 'dial_busy'],
    ['no-answer', 'pending', 'dial_no_answer'],
    ['canceled', 'pending', 'dial_canceled'],
    ['failed', 'failed', 'dial_failed'],
  ] as const)(
    'an unanswered call that no process ends (%s) is over as %s, and costs nothing',
    async (said, status, reason) => {
      const agent = await world.agent();
      const { callId, carrierCallId } = await world.call(agent);
      await world.record(carrierCallId, said);
      await world.sweep();
      expect(await world.row(callId)).toMatchObject({
        status,
        terminal: true,
        end_reason: reason,
        transport_raw: 0n,
      });
      expect(await world.ended(callId)).toEqual([]);
    },
  );

  it('a call whose process was lost between its hold and its row releases the hold', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    await world.sql`update calls set status = 'pending', started_at = null where id = ${callId}`;
    await world.loseProcess(callId);
    await world.record(carrierCallId, 'completed', 3);
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ status: 'pending', terminal: true });
    expect(await world.main.ledger.funds(agent.agentId)).toMatchObject({
      spendableRaw: 5_000_000n,
      heldRaw: 0n,
    });
    expect(await world.ended(callId)).toEqual([]);
  });

  it('an unanswered call that no process ends and that the carrier does not know has failed', async () => {
    const { callId } = await world.call(await world.agent());
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ status: 'failed', terminal: true });
  });

  it('a call past the maximum duration is hung up at the carrier, and the carrier is queried again', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    await world.loseProcess(callId);
    await world.record(carrierCallId, 'in-progress');
    await world.sweep();
    expect(world.hungUp).not.toContain(carrierCallId);
    await world.sql`update calls set started_at = now() - interval '2 hours' where id = ${callId}`;
    await world.due(callId);
    await world.sweep();
    expect(world.hungUp).toContain(carrierCallId);
    expect(await world.row(callId)).toMatchObject({ terminal: false });
    await world.record(carrierCallId, 'completed', 7_200);
    await world.due(callId);
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ terminal: true });
  });

  describe('but was transferred, to a person who has answered,', () => {
    const LINE_SECONDS = 12;
    /** What they cost at 14,700 a minute. */
    const LINE_RAW = 2_940n;

    /** A call whose process journaled some seconds and transferred it, and whose other person has answered. */
    const transferred = () => world.journaledCall({ seconds: LINE_SECONDS, raw: LINE_RAW });
    const answer = ({ callId, carrierCallId }: Awaited<ReturnType<typeof transferred>>) =>
      hearCarrier(world.deps, { kind: 'transferred', callId, carrierCallId });

    it.each([
      ['ends', 3_000, 735_000n],
      ['ends after all that the reserve could pay', 9_000, 2_000_000n],
    ] as const)(
      'a transferred call whose process was lost stays live until its phone line %s',
      async (_, seconds, raw) => {
        const call = await transferred();
        const { agent, callId, carrierCallId } = call;
        await world.loseProcess(callId);
        await answer(call);
        await world.record(carrierCallId, 'in-progress');
        await world.due(callId);
        await world.sweep();
        expect(await world.row(callId)).toMatchObject({ status: 'ending', terminal: false });
        expect(await world.main.ledger.funds(agent.agentId)).toMatchObject({ heldRaw: 2_000_000n });
        expect(world.hungUp).not.toContain(carrierCallId);
        await world.record(carrierCallId, 'completed', seconds);
        await world.due(callId);
        await world.sweep();
        await world.expectBackstop(call, { seconds, raw });
      },
    );

    it('a transferred call that the carrier no longer knows is settled by its journal', async () => {
      const call = await transferred();
      await world.loseProcess(call.callId);
      await answer(call);
      await world.due(call.callId);
      await world.sweep();
      expect(await world.row(call.callId)).toMatchObject({
        terminal: true,
        duration_seconds: LINE_SECONDS,
        transport_raw: LINE_RAW,
      });
    });

    it('a transferred call is left to its own process while that process lives', async () => {
      const call = await transferred();
      await answer(call);
      await world.record(call.carrierCallId, 'in-progress');
      await world.due(call.callId);
      await world.sweep();
      expect(await world.row(call.callId)).toMatchObject({ status: 'ending', terminal: false });
    });

    it('a transferred call that was settled without its row gets the duration of its receipt', async () => {
      const call = await transferred();
      await answer(call);
      const { callId, claim } = call;
      await world.main.ledger.closeSession({
        claim,
        reason: 'call_transfer',
        actualRaw: 0n,
        account: 'telephony',
        source: 'loopback',
        events: [
          callEnded(
            { ...(await found(callId)), wallet: null },
            {
              reason: 'call_transfer',
              durationSeconds: LINE_SECONDS,
              isBackstop: false,
              legs: { transportRaw: 0n, sttRaw: 0n, ttsRaw: 0n },
            },
          ),
        ],
      });
      await world.due(callId);
      await world.sweep();
      expect(await world.row(callId)).toMatchObject({
        terminal: true,
        end_reason: 'call_transfer',
        is_backstop: false,
        duration_seconds: LINE_SECONDS,
      });
    });
  });

  it('a call that was settled without its row gets its row from the settlement', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    const taken = await world.deps.takeSession(callId);
    if (taken === undefined) throw new Error('the session lives');
    await world.main.ledger.closeSession({
      claim: taken.claim,
      reason: 'call_ended',
      actualRaw: 500n,
      account: 'telephony',
      source: 'loopback',
      charges: (costRaw) => [
        {
          agentId: agent.agentId,
          keyId: null,
          targetUrl: `phone://${agent.phoneNumber}/call/${callId}`,
          targetHost: 'phone',
          method: 'CALL',
          status: 'success',
          costRaw,
          model: null,
          rail: null,
          usage: {},
          taskId: null,
          actionId: null,
          customerId: null,
          sessionId: callId,
          payee: null,
          responseStatusCode: null,
          latencyMs: null,
          overheadMs: null,
          upstreamMs: null,
        },
      ],
    });
    await world.record(carrierCallId, 'completed', 2);
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({
      status: 'completed',
      terminal: true,
      end_reason: 'call_ended',
      is_backstop: false,
      transport_raw: 500n,
      stt_raw: 0n,
    });
  });
});

describe('a call whose process did not hear that it had begun, and closed it unopened,', () => {
  it('an unopened call whose process missed its answer costs nothing, and its end is reported once', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    const taken = await world.deps.takeSession(callId);
    const money = createCallMoney(world.deps, await found(callId), { taken, wallet: null });
    expect(await money.release()).toBe(true);
    await world.record(carrierCallId, 'completed', 3);
    await Promise.all([world.sweep(), world.sweep()]);
    const end = { status: 'completed', terminal: true, end_reason: 'error' };
    expect(await world.row(callId)).toMatchObject({ ...end, duration_seconds: 3 });
    expect(await world.ended(callId)).toEqual([
      expect.objectContaining({
        reason: 'error',
        durationSeconds: 3,
        transportRaw: '0',
        sttRaw: '0',
        ttsRaw: '0',
      }),
    ]);
    expect(await world.main.ledger.funds(agent.agentId)).toMatchObject({
      spendableRaw: 5_000_000n,
      heldRaw: 0n,
    });
  });
});

describe('a hang-up that the carrier fails', () => {
  const dueInMs = async (callId: string) => {
    const [row] = await world.sql<{ ms: number }[]>`
      select extract(epoch from due_at - now())::float8 * 1000 as ms from calls where id = ${callId}`;
    return row?.ms;
  };

  it.each([
    ['before the answer', false],
    ['of a call whose process is gone', true],
  ])(
    'a failed hang-up %s is recorded all the same, and the sweeper retries it at the carrier',
    async (_, answered) => {
      const agent = await world.agent();
      const { callId, carrierCallId } = await world.call(agent, { answered });
      if (answered) await world.loseProcess(callId);
      await world.record(carrierCallId, answered ? 'in-progress' : 'ringing');
      world.hangUps.fails = 2;
      const ending = await createCalls(world.deps).hangUp({ agentId: agent.agentId }, callId);
      expect(ending).toMatchObject({ status: 'ending', terminal: false });
      const { hangUpAgainMs } = PHONE_LIMITS.call;
      expect(await dueInMs(callId)).toBeLessThanOrEqual(hangUpAgainMs.first);
      for (const asked of [false, true]) {
        await world.due(callId);
        await world.sweep();
        expect(world.hungUp.includes(carrierCallId)).toBe(asked);
        if (!asked) expect(await dueInMs(callId)).toBeLessThanOrEqual(hangUpAgainMs.next);
      }
      await world.record(carrierCallId, answered ? 'completed' : 'canceled', answered ? 1 : null);
      await world.due(callId);
      await world.sweep();
      expect(await world.row(callId)).toMatchObject({ terminal: true });
    },
  );

  it('a failed hang-up is retried as soon as the carrier reports the call for the first time', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent);
    await world.sql`update calls set carrier_call_id = null where id = ${callId}`;
    await createCalls(world.deps).hangUp({ agentId: agent.agentId }, callId);
    world.hangUps.fails = 1;
    await hearCarrier(world.deps, {
      kind: 'status',
      callId,
      carrierCallId,
      status: 'ringing',
      sequence: 1,
      durationSeconds: null,
      priceRaw: null,
    });
    await expect
      .poll(() => dueInMs(callId))
      .toBeLessThanOrEqual(PHONE_LIMITS.call.hangUpAgainMs.first);
  });

  it('a hang-up that another process received ends the call at the process of its media', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    await world.record(carrierCallId, 'in-progress');
    world.hangUps.fails = 1;
    await createCalls(world.deps).hangUp({ agentId: agent.agentId }, callId);
    const ends: string[] = [];
    const living = { end: (reason: string) => ends.push(reason) } as unknown as LiveCall;
    const other = await world.call(agent, { answered: true });
    const live = new Map([callId, other.callId].map((id) => [id, living]));
    await createCallEnder({ ...world.deps, live }).tick();
    expect(ends).toEqual(['agent_ended']);
  });

  it('a transferred call whose line goes on at the carrier is not hung up', async () => {
    const agent = await world.agent();
    const { callId, carrierCallId } = await world.call(agent, { answered: true });
    await world.record(carrierCallId, 'in-progress');
    await hearCarrier(world.deps, { kind: 'transferred', callId, carrierCallId });
    await world.due(callId);
    await world.sweep();
    expect(await world.row(callId)).toMatchObject({ status: 'ending' });
    expect(world.hungUp).not.toContain(carrierCallId);
  });
});
