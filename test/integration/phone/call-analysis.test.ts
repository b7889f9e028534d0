import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { advanceRow } from '../../../src/phone/calls/call-store.ts';
import { addTurns } from '../../../src/phone/calls/turn-store.ts';
import { claimUnanalyzed } from '../../../src/phone/records/analysis/analysis-store.ts';
import type { CallAnalysis } from '../../../src/phone/records/analysis/analyze-call.ts';
import { createCallAnalyzer } from '../../../src/phone/records/analysis/analyze-calls.ts';
import type { JudgeCall } from '../../../src/phone/records/analysis/judge-by-model.ts';
import { createCallRecords } from '../../../src/phone/records/call-records.ts';
import { createReportForgetter } from '../../../src/phone/records/forget-reports.ts';
import { startCallWorld } from '../../support/call-world.ts';

const END = {
  durationSeconds: 42,
  legs: { transportRaw: 10_290n, sttRaw: 300n, ttsRaw: 700n },
  isBackstop: false,
};

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A call that is over, in which the far side asked something and the agent answered. */
async function endedCall({ answered = true, asksModel = false, wantsReport = true } = {}) {
  const agent = await world.agent();
  const { callId } = await world.call(agent, { answered, wantsReport });
  if (asksModel) {
    await world.sql`update calls set options = options || '{"analysis":"model"}'
      where id = ${callId}`;
  }
  if (answered) {
    const turns = ['Hello.', 'when do you open', 'At nine.'].map((content, i) => ({
      callId,
      turn: { role: i === 1 ? 'user' : 'assistant', content, at: new Date() } as const,
    }));
    await addTurns(world.sql, turns);
    await advanceRow(world.sql, callId, { type: 'session.ended', reason: 'call_ended' }, END);
  } else await advanceRow(world.sql, callId, { type: 'carrier.ended', status: 'busy' });
  return { agentId: agent.agentId, callId };
}

const due = (callId: string) => world.sql`update calls
  set analysis_due_at = now() where id = ${callId} and analysis_due_at is not null`;

async function analyzed(callId: string) {
  const rows = await world.sql<{ payload: Record<string, unknown> }[]>`
    select payload from events where correlation_id = ${callId} and name = 'call.analyzed'`;
  return rows.map(({ payload }) => payload);
}

/** Calls that a model was asked about, and its word. */
const asked: string[] = [];
let word: CallAnalysis | undefined | Error;
const judge: JudgeCall = async ({ callId }) => {
  asked.push(callId);
  if (word instanceof Error) throw word;
  return word;
};
const analyzer = () => createCallAnalyzer({ ...world.deps, judge });
const tick = () => analyzer().tick();
const reportOf = (agentId: number, callId: string) =>
  createCallRecords(world.deps).report({ agentId }, callId);

describe('call.analyzed', () => {
  it('call.analyzed is sent once for a call with a report, over two processes, and only after the last words are written', async () => {
    const { agentId, callId } = await endedCall();
    await tick();
    expect(await analyzed(callId)).toEqual([]);
    expect(await reportOf(agentId, callId)).toMatchObject({ analysis: null });
    await due(callId);
    await Promise.all([tick(), tick()]);
    await tick();
    const told = {
      success: true,
      sentiment: null,
      structuredData: expect.objectContaining({ method: 'rules', callerTurns: 1, agentTurns: 2 }),
    };
    expect(await analyzed(callId)).toEqual([
      { ...told, callId, provider: 'loopback', agentWalletAddress: null },
    ]);
    expect((await reportOf(agentId, callId)).analysis).toEqual(told);
    expect(await world.row(callId)).toMatchObject({ analysis_due_at: null });
  });

  it('call.analyzed is sent although the process that claimed the call died', async () => {
    const { callId } = await endedCall();
    await due(callId);
    expect(await claimUnanalyzed(world.sql, { limit: 10, claimMs: 60_000 })).toEqual([
      { callId, isFirst: true },
    ]);
    await tick();
    expect(await analyzed(callId)).toEqual([]);
    await due(callId);
    await tick();
    expect(await analyzed(callId)).toHaveLength(1);
  });

  it('call.analyzed and the stored analysis are committed together, or neither is', async () => {
    const { callId } = await endedCall();
    await world.sql`alter table events add constraint no_analysis
      check (name <> 'call.analyzed') not valid`;
    await due(callId);
    await tick();
    await world.sql`alter table events drop constraint no_analysis`;
    expect(await world.row(callId)).toMatchObject({ analysis: null });
    await due(callId);
    await tick();
    expect(await analyzed(callId)).toHaveLength(1);
  });

  it('call.analyzed has the verdict of a model when the call requests a model, with the facts of the call record', async () => {
    const [judged, plain] = [await endedCall({ asksModel: true }), await endedCall()];
    const said = { success: false, sentiment: 'negative', structuredData: { method: 'model' } };
    word = said;
    for (const { callId } of [judged, plain]) await due(callId);
    await Promise.all([tick(), tick()]);
    expect(asked).toEqual([judged.callId]);
    const facts = expect.objectContaining({ method: 'model', callerTurns: 1 });
    expect(await analyzed(judged.callId)).toMatchObject([{ ...said, structuredData: facts }]);
    expect(await analyzed(plain.callId)).toMatchObject([{ success: true, sentiment: null }]);
  });

  it('call.analyzed has the verdict of a model even if the database cannot store all characters of its text', async () => {
    const { agentId, callId } = await endedCall({ asksModel: true });
    const reason = 'It\0 went well \ud83d';
    word = { success: true, sentiment: 'positive', structuredData: { method: 'model', reason } };
    await due(callId);
    await tick();
    const kept = { structuredData: { method: 'model', reason: 'It went well \ufffd' } };
    expect(await analyzed(callId)).toMatchObject([kept]);
    expect((await reportOf(agentId, callId)).analysis).toMatchObject(kept);
  });

  it('call.analyzed falls back to rules when the model fails, and when a process died that may have called the model', async () => {
    asked.length = 0;
    for (const nothing of [undefined, new Error('not paid')]) {
      word = nothing;
      const { callId } = await endedCall({ asksModel: true });
      await due(callId);
      await tick();
      expect(await analyzed(callId)).toMatchObject([{ structuredData: { method: 'rules' } }]);
    }
    expect(asked).toHaveLength(2);
    const { callId } = await endedCall({ asksModel: true });
    await due(callId);
    await claimUnanalyzed(world.sql, { limit: 10, claimMs: 60_000 });
    await due(callId);
    await tick();
    expect(await analyzed(callId)).toMatchObject([{ structuredData: { method: 'rules' } }]);
    expect(asked).toHaveLength(2);
  });

  it('call.analyzed is not sent for a call without a report, an unanswered call, or a call whose words are deleted', async () => {
    const silent = await endedCall({ wantsReport: false });
    const busy = await endedCall({ answered: false });
    const old = await endedCall();
    for (const { callId } of [silent, busy])
      expect(await world.row(callId)).toMatchObject({ analysis_due_at: null });
    await world.sql`update calls set report_until = now() where id = ${old.callId}`;
    await createReportForgetter(world).tick();
    expect(await world.row(old.callId)).toMatchObject({ analysis_due_at: null });
    await tick();
    for (const { callId } of [silent, busy, old]) expect(await analyzed(callId)).toEqual([]);
  });
});
