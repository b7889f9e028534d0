import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CarrierSim } from '../support/carrier-sim/start-carrier-sim.ts';
import {
  buyNumber,
  type CarrierWorld,
  expectUnansweredFree,
  heardOut,
  RENTAL_RAW,
  soon,
  startTwilioWorld,
  TO,
  talk,
} from '../support/carrier-world.ts';
import { phoneSpeech } from '../support/phone-speech.ts';
import { refusal } from '../support/web-socket-client.ts';
import { ask, settledMoney } from '../support/whole-world.ts';

const LINE_LOST_MS = 8_000;

let world: CarrierWorld<CarrierSim>;
let question: Uint8Array;
beforeAll(async () => {
  world = await startTwilioWorld({ server: { lineLostMs: LINE_LOST_MS } });
  question = await phoneSpeech('What is my balance?');
});
afterAll(() => world[Symbol.asyncDispose]());

describe.concurrent('a call over Twilio', () => {
  it('a call over Twilio is bought, dialled, answered and talked, and ends with the carrier', async () => {
    const agent = await world.caller('talker');
    const callId = await agent.talking();
    await talk(agent.lineOf(), question);
    const receipt = await agent.endedThere(callId);
    expect(receipt).toMatchObject({ reason: 'call_ended', from: agent.phoneNumber, to: TO });
    expect(Number(receipt.ttsRaw)).toBeGreaterThan(Math.ceil('Hello.'.length * 52.5));
    const [line] = await world.sql`select target_url, cost_raw from charges
      where agent_id = ${agent.agentId} and target_url like '%/rental'`;
    expect(line).toMatchObject({ cost_raw: RENTAL_RAW });
  }, 120_000);

  it('an inbound call over Twilio is answered by the agent of the number, and costs the inbound rate', async () => {
    const agent = await world.caller('answerer');
    const ringing = world.sim.ring(agent.phoneNumber, TO);
    await soon(() => expect(ringing.heardBytes.length).toBeGreaterThan(1_000));
    ringing.hangUp();
    await agent.settledInbound();
  }, 120_000);
});

describe.concurrent('a call survives', () => {
  it('a call over Twilio survives a socket that breaks: it goes on under its id before its line is given up', async () => {
    const agent = await world.caller(
      'broken',
      { faults: { dropsSocketAtMs: 1_500 } },
      'One two three four five six seven eight nine ten eleven twelve.',
    );
    const callId = await agent.talking();
    await soon(() => expect(agent.lineOf().streams[1]?.isOpen).toBe(true));
    expect(await agent.read(callId)).toMatchObject({ status: 'in_progress' });
    expect(await agent.endedHere(callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('a call over Twilio survives a silently lost socket: the replacement carries it beyond the deadline of a lost line', async () => {
    const agent = await world.caller(
      'half-open',
      { faults: { losesSocketAtMs: 1_500 } },
      'One two three four five six seven eight nine ten eleven twelve.',
    );
    const callId = await agent.talking();
    await soon(() => expect(agent.lineOf().streams[1]?.isOpen).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, LINE_LOST_MS + 1_000));
    expect(await agent.read(callId)).toMatchObject({ status: 'in_progress' });
    expect(agent.lineOf().streams).toHaveLength(2);
    expect(await agent.endedHere(callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('a call over Twilio survives callbacks that are repeated, out of order and forged', async () => {
    const faults = { duplicatesCallbacks: true, reordersCallbacks: true, forgesCallbacks: true };
    const agent = await world.caller('doubled', { faults });
    const callId = await agent.talking();
    expect(await agent.endedThere(callId)).toMatchObject({ reason: 'call_ended' });
    await agent.lineOf().over;
    const posted = world.sim.posted.filter(
      ({ parameters }) => parameters.CallSid === agent.lineOf().sid,
    );
    expect(posted.filter(({ isForged }) => isForged).length).toBeGreaterThan(0);
    for (const { isForged, status } of posted) expect(status === 403).toBe(isForged);
  }, 120_000);

  it('a call over Twilio survives marks that come late and twice', async () => {
    const faults = { markDelayMs: 400, doublesMarks: true };
    const agent = await world.caller('marked', { faults }, 'A greeting of quite some words.');
    const callId = await agent.talking();
    // So long after the greeting, its last mark has come back twice.
    await heardOut(agent.lineOf(), 1_000);
    expect(await agent.endedHere(callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('a call over Twilio survives a carrier that fails to hang up', async () => {
    const agent = await world.caller('stuck', { faults: { failsHangUps: 1 } });
    const callId = await agent.talking();
    expect(await agent.endedHere(callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('a call over Twilio survives an answering machine, which is noted with the call', async () => {
    const agent = await world.caller('machine', {
      answers: 'machine_end_beep',
      recognisedAtMs: 300,
    });
    const callId = await agent.talking({ machineDetection: true });
    const noted = () => world.sql`select answered_by from calls where id = ${callId}`;
    await soon(async () => expect(await noted()).toEqual([{ answered_by: 'machine_start' }]));
    expect(await agent.endedHere(callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('a call over Twilio survives a carrier that reports nothing', async () => {
    const faults = { losesStatusCallbacks: true };
    const agent = await world.caller('unreported', { faults });
    const callId = await agent.talking();
    expect(await agent.endedThere(callId)).toMatchObject({ reason: 'call_ended' });
  }, 120_000);
});

describe.concurrent('a call that nobody answers', () => {
  it.each(['busy', 'no-answer', 'failed'] as const)(
    'an unanswered call over Twilio (%s) is over and costs nothing',
    (answers) => expectUnansweredFree(world, answers),
    120_000,
  );

  it('a call over Twilio that is picked up without media costs nothing once the carrier has ended it', async () => {
    const faults = { opensNoStream: true };
    const agent = await world.caller('mute', { hangsUpAtMs: 1_000, faults });
    const callId = await agent.place();
    await agent.until(callId, { terminal: true, status: 'pending' });
    expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(RENTAL_RAW);
  }, 120_000);
});

describe.concurrent('a stranger', () => {
  const opens = async (path: string, headers: Record<string, string> = {}) =>
    (await refusal(`${world.wsUrl}${path}`, [], headers)).status;

  it('a stranger opens no Twilio media stream', async () => {
    expect(await opens('/v1/telephony/twilio/media')).toBe(403);
    const signed = { 'x-twilio-signature': 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' };
    expect(await opens('/v1/telephony/twilio/media', signed)).toBe(403);
    expect(await opens('/v1/telephony/telnyx/media')).toBe(503);
  });

  it('a stranger cannot report as Twilio, whatever the request', async () => {
    const form = 'CallSid=CA1&CallStatus=completed';
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const hook of ['voice', 'status', 'machine', 'recording', 'usage', 'x']) {
      const answer = await ask(`${world.url}/v1/telephony/twilio/${hook}`, {
        headers: type,
        body: form,
      });
      expect(answer).toMatchObject({ status: 403, body: { error: 'invalid_signature' } });
    }
    const long = async (headers: object) => {
      const body = 'x'.repeat(100_000);
      const how = { headers: { ...type, ...headers }, body };
      return (await ask(`${world.url}/v1/telephony/twilio/status`, how)).status;
    };
    expect(await long({})).toBe(403);
    expect(await long({ 'x-twilio-signature': `${'A'.repeat(27)}=` })).toBe(413);
  });
});

it('a number purchase whose response was lost is found again, and is bought and paid once', async () => {
  world.sim.faults.losesPurchaseAnswers = 1;
  const agent = await world.fund('losing agent', 10_000_000n);
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const before = world.sim.owned.length;
  // The server asks the carrier again at once.
  await buyNumber(world.url, headers);
  const rows = await world.sql`
    select status, paid_months from phone_numbers where agent_id = ${agent.agentId}`;
  expect(rows).toMatchObject([{ status: 'active', paid_months: 1 }]);
  expect(world.sim.owned.length).toBe(before + 1);
  expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(RENTAL_RAW);
});
