import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { encodeMulaw } from '../../media/mulaw.ts';
import { synthesise } from '../../src/app/commands/demo/sound.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { Callee } from '../support/carrier-sim/options.ts';
import { startTelnyxSim, type TelnyxSim } from '../support/carrier-sim/telnyx/start-telnyx-sim.ts';
import type { TelnyxCall } from '../support/carrier-sim/telnyx/telnyx-call.ts';
import { ask, settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

/** The address under which the carrier knows this server. */
const PUBLIC = 'https://voice.example';
const WEBHOOK = `${PUBLIC}/v1/telephony/telnyx/voice`;
const TO = '+14155550199';

let sim: TelnyxSim;
let world: WholeWorld;
/** Who answers the calls of a number. */
const callees = new Map<string, Callee>();
let question: Uint8Array;
beforeAll(async () => {
  sim = await startTelnyxSim({
    numbers: Array.from({ length: 20 }, (_, n) => `+1415555${6_000 + n}`),
    webhookUrl: WEBHOOK,
    callee: ({ from }) => callees.get(from) ?? {},
    reach: (url) =>
      url.replace(PUBLIC, world.url).replace(PUBLIC.replace('https', 'wss'), world.wsUrl),
  });
  world = await startWorld(
    {
      PHONE_CARRIER: 'telnyx',
      TELNYX_API_KEY: sim.apiKey,
      TELNYX_PUBLIC_KEY: sim.publicKey,
      TELNYX_CONNECTION_ID: sim.connectionId,
      TELNYX_BASE_URL: sim.baseUrl,
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

/** Tests go side by side: `expect.poll` knows one at a time. */
const soon = (check: () => unknown) => vi.waitFor(check, { timeout: 110_000, interval: 50 });

/** An agent with a number bought of the carrier, over HTTP, and who answers its calls. */
async function caller(name: string, callee: Callee = {}) {
  const agent = await world.fund(name, 10_000_000n);
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const bought = await ask(`${world.url}/v1/numbers`, { headers, body: { areaCode: '415' } });
  expect(bought.status).toBe(201);
  const { phoneNumber } = (bought.body as { number: { phoneNumber: string } }).number;
  callees.set(phoneNumber, callee);
  await world.sql`insert into voice_settings (agent_id, begin_message) values (${agent.agentId}, 'Hello.')`;
  const place = async () => {
    const placed = await ask(`${world.url}/v1/calls`, { headers, body: { toNumber: TO } });
    expect(placed).toMatchObject({ status: 201 });
    return String(placed.body.callId);
  };
  /** The call as the carrier has it. */
  const lineOf = (): TelnyxCall => {
    const line = sim.calls.find(({ from, to }) => from === phoneNumber || to === phoneNumber);
    if (line === undefined) throw new Error('the carrier has no call of this number');
    return line;
  };
  const hangUp = (callId: string) =>
    ask(`${world.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' });
  const until = (callId: string, state: object) =>
    soon(async () => {
      const { body } = await ask(`${world.url}/v1/calls/${callId}`, { headers });
      expect(body).toMatchObject(state);
    });
  return { ...agent, phoneNumber, place, lineOf, hangUp, until };
}

type Caller = Awaited<ReturnType<typeof caller>>;

/** Asks something once the greeting is over, and waits until an answer is heard. */
async function talk(line: TelnyxCall): Promise<void> {
  const lastHeardMs = () => line.heard.at(-1)?.atMs ?? Number.POSITIVE_INFINITY;
  await soon(() => expect(line.sinceAnswerMs()).toBeGreaterThan(lastHeardMs() + 400));
  await line.say(question);
  const askedAtMs = line.sinceAnswerMs();
  await soon(() =>
    expect(line.heard.filter(({ atMs }) => atMs > askedAtMs).length).toBeGreaterThan(15),
  );
}

/** The receipt of a call is what the ledger took, to the raw unit, once. */
async function expectSettledOnce({ agentId }: Caller, callId: string) {
  const ended = await world.sql<{ payload: Record<string, unknown> }[]>`
    select payload from events where correlation_id = ${callId} and name = 'call.ended'`;
  expect(ended).toHaveLength(1);
  const receipt = ended[0]?.payload ?? {};
  const [charged] = await world.sql<{ legs: bigint }[]>`
    select coalesce(sum(cost_raw), 0)::bigint as legs from charges
    where session_id = ${callId} and target_url like 'phone://%'`;
  const legs = ['transportRaw', 'sttRaw', 'ttsRaw'].map((leg) => BigInt(String(receipt[leg])));
  expect(legs.reduce((raw, leg) => raw + leg, 0n)).toBe(charged?.legs);
  const money = await settledMoney(world.sql, agentId);
  expect(money.spendable).toBe(money.credited - money.charged);
  expect(await checkInvariants(world.sql)).toEqual([]);
  return receipt;
}

describe.concurrent('a call over Telnyx', () => {
  it('survives a broken socket, webhooks that come twice, reordered and forged, and a failed hang-up', async () => {
    const faults = {
      dropsSocketAtMs: 800,
      duplicatesCallbacks: true,
      reordersCallbacks: true,
      forgesCallbacks: true,
      failsHangUps: 1,
    };
    const agent = await caller('unlucky', { faults });
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    await soon(() => expect(agent.lineOf().streams[1]?.isOpen).toBe(true));
    await agent.hangUp(callId);
    await agent.until(callId, { status: 'completed', terminal: true });
    expect(await expectSettledOnce(agent, callId)).toMatchObject({ reason: 'agent_ended' });
    const posted = sim.posted.filter(({ callControlId }) => callControlId === agent.lineOf().sid);
    const forged = posted.filter(({ isForged }) => isForged);
    expect(forged.length).toBeGreaterThanOrEqual(3);
    for (const { status } of forged) expect(status).toBe(403);
  }, 120_000);

  it('of which nothing is reported ends with its stream', async () => {
    const faults = { losesStatusCallbacks: true };
    const agent = await caller('unreported', { faults });
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    agent.lineOf().hangUp();
    await agent.until(callId, { terminal: true, status: 'completed' });
    expect(await expectSettledOnce(agent, callId)).toMatchObject({ reason: 'call_ended' });
  }, 120_000);

  it.each(['busy', 'no-answer', 'failed'] as const)(
    'that is %s costs nothing',
    async (answers) => {
      const agent = await caller(`un ${answers.replace('-', ' ')}`, { answers, ringMs: 100 });
      const callId = await agent.place();
      await agent.until(callId, {
        terminal: true,
        status: answers === 'failed' ? 'failed' : 'pending',
      });
      expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(2_000_000n);
    },
    120_000,
  );
});

describe.concurrent('a stranger', () => {
  const BODY = '{"data":{"event_type":"call.hangup","payload":{"call_control_id":"v3:1"}}}';
  const now = () => String(Math.floor(Date.now() / 1_000));
  const post = (timestamp: string, signature: string, body = BODY) =>
    ask(`${world.url}/v1/telephony/telnyx/voice`, {
      headers: { 'telnyx-timestamp': timestamp, 'telnyx-signature-ed25519': signature },
      body,
    });

  it('reports nothing as the carrier with any of 20 forged signatures', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const at = now();
    const good = sim.sign(at, BODY);
    const changed = (index: number) => {
      const bytes = Buffer.from(good, 'base64');
      bytes[index] = (bytes[index] ?? 0) ^ 1;
      return bytes.toString('base64');
    };
    const old = String(Number(at) - 400);
    const early = String(Number(at) + 400);
    const forged: readonly (readonly [string, string, string?])[] = [
      [at, ''],
      [at, 'AAAA'],
      [at, Buffer.alloc(64).toString('base64')],
      [at, sign(null, Buffer.from(`${at}|${BODY}`), other).toString('base64')],
      [at, sim.sign(at, `${BODY} `)],
      [at, sim.sign(at, BODY.replace('hangup', 'answered'))],
      [at, good, BODY.replace('hangup', 'answered')],
      [at, good, `${BODY}\n`],
      [at, good.replace(/=+$/, '')],
      [at, ` ${good}`.replace(' ', '=')],
      [at, sim.sign('', BODY)],
      [at, sim.sign(String(Number(at) - 1), BODY)],
      [old, sim.sign(old, BODY)],
      [early, sim.sign(early, BODY)],
      ['0', sim.sign('0', BODY)],
      ['now', sim.sign('now', BODY)],
      [`${at}.0`, sim.sign(`${at}.0`, BODY)],
      ...[0, 31, 63].map((index) => [at, changed(index)] as const),
    ];
    expect(forged).toHaveLength(20);
    for (const [timestamp, signature, body] of forged) {
      expect(await post(timestamp, signature, body)).toMatchObject({
        status: 403,
        body: { error: 'invalid_signature' },
      });
    }
    const unsigned = await ask(`${world.url}/v1/telephony/telnyx/voice`, { body: BODY });
    expect(unsigned.status).toBe(403);
    // The same request with its signature is read.
    expect((await post(at, good)).status).toBe(200);
  }, 120_000);

  it('opens no media stream without the token of the call that it names', async () => {
    const opens = (path: string, headers: Record<string, string> = {}) =>
      new Promise<number>((resolve) => {
        const socket = new WebSocket(`${world.wsUrl}${path}`, { headers });
        socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
        socket.on('open', () => resolve(101));
        socket.on('error', () => {});
      });
    const media = '/v1/telephony/telnyx/media';
    const token = (value: string) => ({ 'x-telnyx-streaming-auth-token': value });
    const agent = await caller('guarded');
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    const started = sim.requests.find(
      ({ body, path }) =>
        path.at(-1) === 'streaming_start' && String(body.stream_url).includes(callId),
    );
    const good = String(started?.body.stream_auth_token);
    expect(await opens(media)).toBe(403);
    expect(await opens(`${media}?call=${callId}`)).toBe(403);
    expect(await opens(`${media}?call=${callId}`, token('A'.repeat(good.length)))).toBe(403);
    expect(await opens(`${media}?call=${callId}x`, token(good))).toBe(403);
    expect(await opens(media, token(good))).toBe(403);
    expect(await opens('/v1/telephony/twilio/media', token(good))).toBe(503);
    await agent.hangUp(callId);
    await agent.until(callId, { terminal: true });
  }, 120_000);
});

// One after the other: each takes a recogniser, and a second one would have to be loaded.
describe('a conversation over Telnyx', () => {
  it('is bought, dialled, heard in unordered frames, answered, and settled once', async () => {
    const agent = await caller('talker', { faults: { reordersFrames: true } });
    const callId = await agent.place();
    await agent.until(callId, { status: 'in_progress' });
    await talk(agent.lineOf());
    agent.lineOf().hangUp();
    await agent.until(callId, { status: 'completed', terminal: true });
    const receipt = await expectSettledOnce(agent, callId);
    expect(receipt).toMatchObject({ reason: 'call_ended', from: agent.phoneNumber, to: TO });
    expect(Number(receipt.sttRaw)).toBeGreaterThan(0);
    expect(Number(receipt.ttsRaw)).toBeGreaterThan(Math.ceil('Hello.'.length * 52.5));
    // All that was sent is what Telnyx plays.
    expect(agent.lineOf().streams.map(({ refusedChunks }) => refusedChunks)).toEqual([0]);
  }, 120_000);

  it('comes in over a line in A-law, is answered, and costs the inbound rate', async () => {
    const agent = await caller('answerer');
    const ringing = sim.ring(agent.phoneNumber, TO, { line: { encoding: 'PCMA', chunkMs: 60 } });
    await talk(ringing);
    ringing.hangUp();
    const [row] = await world.sql<{ id: string }[]>`
      select id from calls where agent_id = ${agent.agentId}`;
    const callId = row?.id ?? '';
    await agent.until(callId, { terminal: true, status: 'completed' });
    const receipt = await expectSettledOnce(agent, callId);
    const seconds = BigInt(Number(receipt.durationSeconds));
    expect(receipt).toMatchObject({ direction: 'inbound', from: TO, to: agent.phoneNumber });
    expect(BigInt(String(receipt.transportRaw))).toBe((8_900n * seconds + 59n) / 60n);
  }, 120_000);
});
