import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseWav } from '../../media/wav.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { callEvents } from '../support/call-receipts.ts';
import type { CarrierSim } from '../support/carrier-sim/start-carrier-sim.ts';
import { type CarrierWorld, PUBLIC, soon, startTwilioWorld, TO } from '../support/carrier-world.ts';
import { ask } from '../support/whole-world.ts';

const TO_IMPATIENT = '+14155550198';
const SILENCE = 0xff;
const MINUTE_RAW = 6_000n;

let world: CarrierWorld<CarrierSim>;
const folder = mkdtempSync(join(tmpdir(), 'svc-rates-'));
beforeAll(async () => {
  const rates = join(folder, 'rates.json');
  writeFileSync(rates, JSON.stringify({ recordingMinuteRaw: MINUTE_RAW.toString() }));
  world = await startTwilioWorld({
    sim: { faults: { duplicatesCallbacks: true } },
    environment: { PHONE_RATE_CARD_FILE: rates },
  });
  world.callees.set(TO_IMPATIENT, { hangsUpAtMs: 900 });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** An agent with a number, and what it and its developer ask. */
async function caller(name: string) {
  const agent = await world.numbered(name);
  const owner = { authorization: `Bearer ${agent.developerKey}` };
  const voice = (body: object) =>
    ask(`${world.url}/v1/developer/agents/${agent.agentId}/voice`, {
      method: 'PATCH',
      headers: owner,
      body,
    });
  await voice({ beginMessage: 'Hello, this is the agent.' });
  const get = (path: string) => ask(`${world.url}/v1/calls/${path}`, { headers: agent.headers });
  return { ...agent, owner, voice, get };
}

const eventsOf = (callId: string, name: string) => callEvents(world.sql, callId, name);

const bytesOf = async (url: string, headers: Record<string, string>) => {
  const answer = await fetch(url, { headers });
  expect(answer.headers.get('content-type')).toBe('audio/wav');
  return Buffer.from(await answer.arrayBuffer());
};

describe.concurrent('a call over Twilio', () => {
  it('a call over Twilio is recorded after the notice, charged from there, reported once, and read by agent and developer', async () => {
    const agent = await caller('recorded');
    const callId = await agent.place({ record: true, analysis: 'rules' });
    await soon(() => expect(agent.lineOf().recordings).toHaveLength(1));
    const call = agent.lineOf();
    // The notice was heard by then, 1.2 s of speech at the least.
    expect(call.heardBytes.length).toBeGreaterThan(8_000);
    expect((await agent.get(`${callId}/report`)).status).toBe(409);
    expect((await agent.get(`${callId}/recording`)).status).toBe(409);
    const recording = call.recordings[0];
    const beganAtMs = recording?.beganAtMs ?? 0;
    await soon(() => expect(call.sinceAnswerMs()).toBeGreaterThan(beganAtMs + 2_500));
    await agent.hangUp(callId);
    await agent.until(callId, { terminal: true, status: 'completed' });

    const [ended, ...more] = await eventsOf(callId, 'call.ended');
    expect(more).toEqual([]);
    expect(ended?.recording).toMatchObject({ consent: 'announced', status: 'recording' });
    const seconds = BigInt(Number(ended?.durationSeconds));
    const [row] = await world.sql<{ began_ms: number }[]>`
      select began_ms from call_recordings where call_id = ${callId}`;
    const lineRaw = (14_700n * seconds + 59n) / 60n;
    const recordedRaw = BigInt(String(ended?.transportRaw)) - lineRaw;
    const recordedSeconds = Number(seconds) - (row?.began_ms ?? 0) / 1_000;
    expect(recordedRaw % 100n).toBeLessThanOrEqual(1n);
    expect(Number(recordedRaw) / 100).toBeGreaterThan(recordedSeconds - 1.1);
    expect(Number(recordedRaw) / 100).toBeLessThan(recordedSeconds + 1.1);

    const url = `${world.url}/v1/calls/${callId}/recording`;
    await soon(async () =>
      expect(await eventsOf(callId, 'call.recording.ready')).toMatchObject([
        { recordingUrl: `${PUBLIC}/v1/calls/${callId}/recording` },
      ]),
    );
    const wav = parseWav(await bytesOf(url, agent.headers));
    expect(wav).toMatchObject({
      kind: 'parsed',
      channels: 2,
      sampleRateHz: 8_000,
      truncated: false,
    });
    const data = wav.kind === 'parsed' ? wav.data : new Uint8Array();
    expect(data.length).toBeGreaterThan(2 * 8_000 * 2);
    const loud = (channel: number) =>
      data.filter((byte, i) => i % 2 === channel && byte !== SILENCE).length;
    // The agent speaks, the far side is silent.
    expect(loud(0)).toBe(0);
    expect(loud(1)).toBeGreaterThan(1_000);

    await soon(async () =>
      expect(await eventsOf(callId, 'call.analyzed')).toMatchObject([
        { success: false, sentiment: null, structuredData: { method: 'rules', callerTurns: 0 } },
      ]),
    );
    const report = await agent.get(`${callId}/report`);
    expect(report).toMatchObject({
      status: 200,
      body: {
        reason: 'agent_ended',
        recording: { consent: 'announced', status: 'ready' },
        receipt: { transportRaw: ended?.transportRaw },
        quality: { turns: { assistant: 2 } },
        analysis: { success: false, structuredData: { endReason: 'agent_ended', agentTurns: 2 } },
      },
    });
    expect(await eventsOf(callId, 'call.report.ready')).toHaveLength(1);
    const developers = `${world.url}/v1/developer/agents/${agent.agentId}/calls/${callId}`;
    const same = await ask(`${developers}/report`, { headers: agent.owner });
    expect(same.body).toEqual(report.body);
    expect(parseWav(await bytesOf(`${developers}/recording`, agent.owner)).kind).toBe('parsed');
    const stranger = await caller('stranger');
    for (const what of ['report', 'recording']) {
      expect((await stranger.get(`${callId}/${what}`)).status).toBe(404);
      const asked = await ask(`${developers}/${what}`, { headers: stranger.owner });
      expect(asked.status).toBe(404);
    }
    expect(await checkInvariants(world.sql)).toEqual([]);
  }, 120_000);

  it('a call over Twilio is not recorded when the callee hangs up during the notice', async () => {
    const agent = await caller('impatient');
    const callId = await agent.place({ toNumber: TO_IMPATIENT, record: true });
    await agent.until(callId, { terminal: true });
    expect(agent.lineOf().recordings).toEqual([]);
    const [ended] = await eventsOf(callId, 'call.ended');
    expect(ended?.recording).toBeUndefined();
    expect((await agent.get(`${callId}/recording`)).status).toBe(404);
  }, 120_000);

  it('an inbound call over Twilio is recorded and reported when the settings of its agent say so', async () => {
    const agent = await caller('answerer');
    expect(await agent.voice({ recordCalls: true, reportCalls: true })).toMatchObject({
      status: 200,
      body: { recordCalls: true, reportCalls: true },
    });
    expect(await agent.voice({ recordCalls: 'yes' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_voice' },
    });
    const ringing = world.sim.ring(agent.phoneNumber, TO);
    await soon(() => expect(ringing.recordings).toHaveLength(1));
    ringing.hangUp();
    const [row] = await world.sql<{ id: string }[]>`
      select id from calls where agent_id = ${agent.agentId}`;
    const callId = row?.id ?? '';
    await agent.until(callId, { terminal: true });
    expect(await agent.get(`${callId}/report`)).toMatchObject({
      status: 200,
      body: { direction: 'inbound', reason: 'call_ended' },
    });
  }, 120_000);
});
