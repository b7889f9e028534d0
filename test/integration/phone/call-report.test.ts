import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advanceRow } from '../../../src/phone/calls/call-store.ts';
import { addTurns, findTurns, noteHeard } from '../../../src/phone/calls/turn-store.ts';
import { createCallRecords } from '../../../src/phone/records/call-records.ts';
import { createReportForgetter } from '../../../src/phone/records/forget-reports.ts';
import { addLine } from '../../../src/phone/records/record-store.ts';
import type { SaidTurn } from '../../../src/phone/records/said-turn.ts';
import { startCallWorld } from '../../support/call-world.ts';

const LATENCY = {
  waitMs: 500,
  transcriptMs: 40,
  firstTokenMs: 100,
  firstAudioMs: 60,
  firstFrameMs: 0,
  totalMs: 700,
};
const LINE = {
  jitterMs: 1.5,
  jitterMaxMs: 20,
  lateChunks: 0,
  gaps: 1,
  underruns: 0,
  underrunMs: 0,
};
const END = {
  durationSeconds: 42,
  legs: { transportRaw: 10_290n, sttRaw: 300n, ttsRaw: 700n },
  isBackstop: false,
  line: LINE,
};

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second));

/** A call in which both sides have spoken, and the second answer was interrupted. */
async function spokenCall({ wantsReport = true } = {}) {
  const agent = await world.agent();
  const { callId, carrierCallId } = await world.call(agent, { answered: true, wantsReport });
  const { sql } = world;
  const hello = 'Hello, this is the agent.';
  const long = { content: 'I am fine and so is everybody else.', at: at(5), latency: LATENCY };
  const turns: SaidTurn[] = [
    { role: 'assistant', content: hello, at: at(1) },
    { role: 'user', content: 'how are you', at: at(4) },
    { role: 'assistant', ...long },
  ];
  const numbers = await addTurns(
    sql,
    turns.map((turn) => ({ callId, turn })),
  );
  await noteHeard(sql, [{ callId, seq: numbers[2] ?? 0, heard: 'I am fine' }]);
  return { agent, callId, carrierCallId };
}

const endCall = (callId: string) =>
  advanceRow(world.sql, callId, { type: 'session.ended', reason: 'call_ended' }, END);

async function reportEvents(callId: string) {
  const rows = await world.sql<{ payload: Record<string, unknown> }[]>`
    select payload from events where correlation_id = ${callId} and name = 'call.report.ready'`;
  return rows.map(({ payload }) => payload);
}

const records = () => createCallRecords(world.deps);

describe('the report of a call', () => {
  it('a call report is announced once, with what was said and what was heard', async () => {
    const { callId } = await spokenCall();
    expect(await reportEvents(callId)).toEqual([]);
    await Promise.all([endCall(callId), endCall(callId)]);
    const [ready, ...more] = await reportEvents(callId);
    expect(more).toEqual([]);
    expect(ready).toMatchObject({ callId, provider: 'loopback' });
    expect(ready?.transcript).toBe(
      'Agent: Hello, this is the agent.\nCaller: how are you\nAgent: I am fine [interrupted]',
    );
    expect(ready?.summary).toContain('lasted 42 seconds and ended because the other side hung up');
    expect(ready?.summary).toContain('spoke 1 time, the agent 2 times');
  });

  it('a call ends with a report even if the summary must cut the transcript inside an emoji', async () => {
    const agent = await world.agent();
    const { callId } = await world.call(agent, { answered: true, wantsReport: true });
    const content = `${'a'.repeat(199)}🔑 and more`;
    await addTurns(world.sql, [{ callId, turn: { role: 'user', content, at: at(1) } }]);
    await endCall(callId);
    expect(await world.row(callId)).toMatchObject({ status: 'completed', terminal: true });
    const [ready] = await reportEvents(callId);
    expect(ready?.summary).toContain(`began with: "${'a'.repeat(199)}…"`);
    expect(ready?.transcript).toBe(`Caller: ${content}`);
  });

  it('a call report has the receipt, the turns with their times, the latency and the phone line', async () => {
    const { agent, callId } = await spokenCall();
    await addLine(world.sql, callId, { ...LINE, jitterMs: 9 });
    await endCall(callId);
    const report = await records().report({ agentId: agent.agentId }, callId);
    expect(report).toMatchObject({
      callId,
      from: agent.phoneNumber,
      to: '+14155550199',
      direction: 'outbound',
      reason: 'call_ended',
      durationSeconds: 42,
      backstop: false,
      receipt: {
        transportRaw: '10290',
        sttRaw: '300',
        ttsRaw: '700',
        modelRaw: '0',
        totalRaw: '11290',
      },
    });
    expect(report.transcript).toMatchObject([
      { role: 'assistant', interrupted: false, at: at(1).toISOString(), latency: null },
      { role: 'user', text: 'how are you', heard: 'how are you', at: at(4).toISOString() },
      { role: 'assistant', interrupted: true, heard: 'I am fine', latency: LATENCY },
    ]);
    expect(report.quality).toEqual({
      turns: { user: 1, assistant: 2 },
      // The far side hung up over the last answer, which interrupts nothing.
      interruptions: 0,
      wordsSaid: 13,
      wordsHeard: 8,
      latency: Object.fromEntries(
        Object.entries(LATENCY).map(([span, ms]) => [span, { count: 1, meanMs: ms, maxMs: ms }]),
      ),
      answers: [LATENCY],
      lines: [{ ...LINE, jitterMs: 9 }, LINE],
    });
  });

  it('a call report is sent once even if the process of the call was lost', async () => {
    const { agent, callId, carrierCallId } = await spokenCall();
    await world.loseProcess(callId);
    await world.record(carrierCallId, 'completed', 61);
    await world.due(callId);
    await Promise.all([world.sweep(), world.sweep()]);
    await world.sweep();
    expect(await reportEvents(callId)).toHaveLength(1);
    expect(await world.ended(callId)).toHaveLength(1);
    const report = await records().report({ agentId: agent.agentId }, callId);
    expect(report).toMatchObject({ reason: 'backstop_settled', backstop: true });
    expect(report.transcript).toHaveLength(3);
    expect(await world.faults()).toEqual([]);
  });

  it('a call report is absent before the end, for another agent or account, and when the call requested none', async () => {
    const { agent, callId } = await spokenCall();
    const own = { agentId: agent.agentId };
    await expect(records().report(own, callId)).rejects.toMatchObject({
      status: 409,
      error: 'report_not_ready',
    });
    await endCall(callId);
    const other = await world.agent();
    for (const owner of [
      { agentId: other.agentId },
      { agentId: agent.agentId, accountId: 'acct_other' },
    ]) {
      await expect(records().report(owner, callId)).rejects.toMatchObject({ status: 404 });
    }
    const owned = { agentId: agent.agentId, accountId: agent.accountId };
    expect(await records().report(owned, callId)).toMatchObject({ callId });
    const silent = await spokenCall({ wantsReport: false });
    await endCall(silent.callId);
    const asked = records().report({ agentId: silent.agent.agentId }, silent.callId);
    await expect(asked).rejects.toMatchObject({ status: 404 });
  });

  it('a call without a report keeps none of its words, but its measurements are kept', async () => {
    const { callId } = await spokenCall({ wantsReport: false });
    await endCall(callId);
    expect(await findTurns(world.sql, callId, 10)).toEqual([]);
    expect(await reportEvents(callId)).toEqual([]);
    expect((await world.row(callId))?.summary).toMatchObject({ interruptions: 0, wordsHeard: 8 });
    const late = { role: 'user', content: 'too late', at: at(50) } as const;
    expect(await addTurns(world.sql, [{ callId, turn: late }])).toEqual([undefined]);
    expect(await findTurns(world.sql, callId, 10)).toEqual([]);
  });

  it('a call report is deleted once after its retention time, by whichever process comes first', async () => {
    const [old, young] = [await spokenCall(), await spokenCall()];
    await endCall(old.callId);
    await endCall(young.callId);
    await world.sql`update calls set report_until = now() - interval '1 second'
      where id = ${old.callId}`;
    await expect(
      records().report({ agentId: old.agent.agentId }, old.callId),
    ).rejects.toMatchObject({ status: 404 });
    const [one, two] = [createReportForgetter(world), createReportForgetter(world)];
    await Promise.all([one.tick(), two.tick()]);
    expect(await findTurns(world.sql, old.callId, 10)).toEqual([]);
    expect(await findTurns(world.sql, young.callId, 10)).toHaveLength(3);
    expect(await world.row(old.callId)).toMatchObject({ report_until: null });
  });
});

it('another process reads the turns of a live call as they were heard', async () => {
  const { callId } = await spokenCall();
  expect(await findTurns(world.sql, callId, 10)).toEqual([
    { role: 'assistant', content: 'Hello, this is the agent.' },
    { role: 'user', content: 'how are you' },
    { role: 'assistant', content: 'I am fine' },
  ]);
});
