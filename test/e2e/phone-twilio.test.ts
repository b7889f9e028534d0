import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { encodeMulaw } from '../../media/mulaw.ts';
import { synthesise } from '../../src/app/commands/demo/sound.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { type Callee, SIM_ACCOUNT } from '../support/carrier-sim/options.ts';
import type { SimCall } from '../support/carrier-sim/sim-call.ts';
import { type CarrierSim, startCarrierSim } from '../support/carrier-sim/start-carrier-sim.ts';
import { ask, settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

/** The address under which the carrier knows this server. */
const PUBLIC = 'https://voice.example';
const TO = '+14155550199';

let sim: CarrierSim;
let world: WholeWorld;
/** Who answers the calls of a number. */
const callees = new Map<string, Callee>();
let question: Uint8Array;
beforeAll(async () => {
  sim = await startCarrierSim({
    numbers: Array.from({ length: 60 }, (_, n) => `+1415555${4_000 + n}`),
    callee: ({ from }) => callees.get(from) ?? {},
    reach: (url) =>
      url.replace(PUBLIC, world.url).replace(PUBLIC.replace('https', 'wss'), world.wsUrl),
  });
  world = await startWorld(
    {
      PHONE_CARRIER: 'twilio',
      TWILIO_ACCOUNT_SID: SIM_ACCOUNT.accountSid,
      TWILIO_AUTH_TOKEN: SIM_ACCOUNT.authToken,
      TWILIO_BASE_URL: sim.baseUrl,
      PUBLIC_URL: PUBLIC,
    },
    { lineLostMs: 8_000 },
  );
  const pcm = await synthesise('What is my balance?', 8_000);
  question = new Uint8Array(pcm.length);
  encodeMulaw(pcm, question);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await sim[Symbol.asyncDispose]();
});

/** An agent with a number bought of the carrier, over HTTP, and who answers its calls. */
async function caller(name: string, callee: Callee = {}, beginMessage = 'Hello.') {
  const agent = await world.fund(name, 10_000_000n);
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const bought = await ask(`${world.url}/v1/numbers`, { headers, body: { areaCode: '415' } });
  expect(bought.status).toBe(201);
  const { phoneNumber } = (bought.body as { number: { phoneNumber: string } }).number;
  callees.set(phoneNumber, callee);
  await world.sql`insert into voice_settings (agent_id, begin_message) values (${agent.agentId}, ${beginMessage})`;
  const place = async (more: object = {}) => {
    const body = { toNumber: TO, ...more };
    const placed = await ask(`${world.url}/v1/calls`, { headers, body });
    return String(placed.body.callId);
  };
  /** The call as the carrier has it. */
  const lineOf = () => sim.calls.find(({ from, to }) => from === phoneNumber || to === phoneNumber);
  const hangUp = (callId: string) =>
    ask(`${world.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' });
  const read = async (callId: string) =>
    (await ask(`${world.url}/v1/calls/${callId}`, { headers })).body;
  const until = (callId: string, state: object) =>
    soon(async () => expect(await read(callId)).toMatchObject(state));
  return { ...agent, headers, phoneNumber, place, lineOf, hangUp, read, until };
}

/** Tests go side by side: `expect.poll` knows one at a time. */
const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 110_000, interval: 50 });

/** Waits until the far side has heard something, and then nothing for so long. */
const heardOut = (lineOf: () => SimCall | undefined, quietMs: number) =>
  soon(() => {
    const lastHeardMs = lineOf()?.heard.at(-1)?.atMs ?? Number.POSITIVE_INFINITY;
    expect(lineOf()?.sinceAnswerMs()).toBeGreaterThan(lastHeardMs + quietMs);
  });

/** The receipt of a call is what the ledger took, to the raw unit, once. */
async function expectSettledOnce(
  agentId: number,
  callId: string,
): Promise<Record<string, unknown>> {
  const ended = await world.sql<{ payload: Record<string, unknown> }[]>`
    select payload from events where correlation_id = ${callId} and name = 'call.ended'`;
  expect(ended).toHaveLength(1);
  const receipt = ended[0]?.payload ?? {};
  const [charged] = await world.sql<{ legs: bigint }[]>`
    select coalesce(sum(cost_raw), 0)::bigint as legs from charges
    where session_id = ${callId} and target_url like 'phone://%'`;
  const sum = ['transportRaw', 'sttRaw', 'ttsRaw'].reduce(
    (raw, leg) => raw + BigInt(String(receipt[leg])),
    0n,
  );
  expect(sum).toBe(charged?.legs);
  const money = await settledMoney(world.sql, agentId);
  expect(money.spendable).toBe(money.credited - money.charged);
  expect(await checkInvariants(world.sql)).toEqual([]);
  return receipt;
}

describe.concurrent('a call over Twilio', () => {
  it('is bought, dialled, answered and talked, and ends with the carrier', async () => {
    const agent = await caller('talker');
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    await heardOut(agent.lineOf, 400);
    await agent.lineOf()?.say(question);
    const askedAtMs = agent.lineOf()?.sinceAnswerMs() ?? 0;
    const answerMs = () =>
      (agent.lineOf()?.heard ?? []).filter(({ atMs }) => atMs > askedAtMs).length * 20;
    await soon(() => expect(answerMs()).toBeGreaterThan(300));
    agent.lineOf()?.hangUp();
    await agent.until(callId, { status: 'completed', terminal: true });
    const receipt = await expectSettledOnce(agent.agentId, callId);
    expect(receipt).toMatchObject({ reason: 'call_ended', from: agent.phoneNumber, to: TO });
    expect(Number(receipt.ttsRaw)).toBeGreaterThan(Math.ceil('Hello.'.length * 52.5));
    const [line] = await world.sql`select target_url, cost_raw from charges
      where agent_id = ${agent.agentId} and target_url like '%/rental'`;
    expect(line).toMatchObject({ cost_raw: 2_000_000n });
  }, 120_000);

  it('comes in, is answered by the agent of the number, and costs the inbound rate', async () => {
    const agent = await caller('answerer');
    const ringing = sim.ring(agent.phoneNumber, TO);
    await soon(() => expect(ringing.heardBytes.length).toBeGreaterThan(1_000));
    ringing.hangUp();
    const [row] = await world.sql<
      { id: string }[]
    >`select id from calls where agent_id = ${agent.agentId}`;
    await agent.until(row?.id ?? '', { terminal: true, status: 'completed' });
    const receipt = await expectSettledOnce(agent.agentId, row?.id ?? '');
    const seconds = BigInt(Number(receipt.durationSeconds));
    expect(receipt).toMatchObject({ direction: 'inbound', from: TO, to: agent.phoneNumber });
    expect(BigInt(String(receipt.transportRaw))).toBe((8_900n * seconds + 59n) / 60n);
  }, 120_000);
});

describe.concurrent('a call survives', () => {
  const ended = async (agent: Awaited<ReturnType<typeof caller>>, callId: string) => {
    await agent.hangUp(callId);
    await agent.until(callId, { terminal: true });
    return expectSettledOnce(agent.agentId, callId);
  };

  it('a socket that breaks in the middle: it goes on under its id before its line is given up', async () => {
    const agent = await caller(
      'broken',
      { faults: { dropsSocketAtMs: 1_500 } },
      'One two three four five six seven eight nine ten eleven twelve.',
    );
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    await soon(() => expect(agent.lineOf()?.streams[1]?.isOpen).toBe(true));
    expect(await agent.read(callId)).toMatchObject({ status: 'in_progress' });
    expect(await ended(agent, callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('callbacks that come twice, out of order and forged', async () => {
    const faults = { duplicatesCallbacks: true, reordersCallbacks: true, forgesCallbacks: true };
    const agent = await caller('doubled', { faults });
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    agent.lineOf()?.hangUp();
    await agent.until(callId, { status: 'completed', terminal: true });
    expect(await expectSettledOnce(agent.agentId, callId)).toMatchObject({ reason: 'call_ended' });
    await agent.lineOf()?.over;
    const posted = sim.posted.filter(
      ({ parameters }) => parameters.CallSid === agent.lineOf()?.sid,
    );
    expect(posted.filter(({ isForged }) => isForged).length).toBeGreaterThan(0);
    for (const { isForged, status } of posted) expect(status === 403).toBe(isForged);
  }, 120_000);

  it('marks that come late and twice', async () => {
    const faults = { markDelayMs: 400, doublesMarks: true };
    const agent = await caller('marked', { faults }, 'A greeting of quite some words.');
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    // So long after the greeting, its last mark has come back twice.
    await heardOut(agent.lineOf, 1_000);
    expect(await ended(agent, callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('a carrier that fails to hang up', async () => {
    const agent = await caller('stuck', { faults: { failsHangUps: 1 } });
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    expect(await ended(agent, callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('an answering machine, which is noted beside it', async () => {
    const agent = await caller('machine', { answers: 'machine_end_beep', recognisedAtMs: 300 });
    const callId = await agent.place({ machineDetection: true });
    await agent.until(callId, { status: 'in_progress' });
    const noted = () => world.sql`select answered_by from calls where id = ${callId}`;
    await soon(async () => expect(await noted()).toEqual([{ answered_by: 'machine_start' }]));
    expect(await ended(agent, callId)).toMatchObject({ reason: 'agent_ended' });
  }, 120_000);

  it('a carrier that reports nothing of it', async () => {
    const faults = { losesStatusCallbacks: true };
    const agent = await caller('unreported', { faults });
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    agent.lineOf()?.hangUp();
    await agent.until(callId, { terminal: true, status: 'completed' });
    expect(await expectSettledOnce(agent.agentId, callId)).toMatchObject({ reason: 'call_ended' });
  }, 120_000);
});

describe.concurrent('a call that nobody answers', () => {
  it.each(['busy', 'no-answer', 'failed'] as const)(
    '(%s) is over and costs nothing',
    async (answers) => {
      const agent = await caller(`un ${answers.replace('-', ' ')}`, { answers, ringMs: 200 });
      const callId = await agent.place();
      await agent.until(callId, {
        terminal: true,
        status: answers === 'failed' ? 'failed' : 'pending',
      });
      expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(2_000_000n);
    },
  );

  it('by media, though it was picked up, costs nothing once the carrier has ended it', async () => {
    const faults = { opensNoStream: true };
    const agent = await caller('mute', { hangsUpAtMs: 1_000, faults });
    const callId = await agent.place();
    await agent.until(callId, { terminal: true, status: 'pending' });
    expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(2_000_000n);
  }, 120_000);
});

describe.concurrent('a stranger', () => {
  const opens = (path: string, headers: Record<string, string> = {}) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(`${world.wsUrl}${path}`, { headers });
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
      socket.on('open', () => resolve(101));
      socket.on('error', () => {});
    });

  it('opens no media stream', async () => {
    expect(await opens('/v1/telephony/twilio/media')).toBe(403);
    const signed = { 'x-twilio-signature': 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' };
    expect(await opens('/v1/telephony/twilio/media', signed)).toBe(403);
    expect(await opens('/v1/telephony/telnyx/media')).toBe(503);
  });

  it('reports nothing as the carrier, whatever it sends', async () => {
    const form = 'CallSid=CA1&CallStatus=completed';
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const hook of ['voice', 'status', 'machine', 'recording', 'usage', 'x']) {
      const answer = await ask(`${world.url}/v1/telephony/twilio/${hook}`, {
        headers: type,
        body: form,
      });
      expect(answer).toMatchObject({ status: 403, body: { error: 'invalid_signature' } });
    }
    const long = await ask(`${world.url}/v1/telephony/twilio/status`, {
      headers: type,
      body: 'x'.repeat(100_000),
    });
    expect([400, 413]).toContain(long.status);
  });
});

it('a purchase whose answer was lost is found again, and is bought and paid once', async () => {
  sim.faults.losesPurchaseAnswers = 1;
  const agent = await world.fund('losing agent', 10_000_000n);
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const before = sim.owned.length;
  const bought = await ask(`${world.url}/v1/numbers`, { headers, body: { areaCode: '415' } });
  // The server has asked the carrier again at once.
  expect(bought.status).toBe(201);
  const rows = await world.sql`
    select status, paid_months from phone_numbers where agent_id = ${agent.agentId}`;
  expect(rows).toMatchObject([{ status: 'active', paid_months: 1 }]);
  expect(sim.owned.length).toBe(before + 1);
  expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(2_000_000n);
});
