import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { completeSettings } from '../../src/app/local-secrets.ts';
import { startServer } from '../../src/app/server.ts';
import { readConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { RECORDING_NOTICE } from '../../src/phone/recordings/recording.ts';
import { callEvents } from '../support/call-receipts.ts';
import { soon, startTwilioWorld } from '../support/carrier-world.ts';
import { testDatabase } from '../support/database.ts';
import { HANDOVER_SILENCE_MS } from '../support/handed-over.ts';
import { QuietCallee, rentNumber, sharedCarrier } from '../support/phone-world.ts';
import { sharedEngines } from '../support/shared-engines.ts';
import { ask, epochSeconds, settledMoney } from '../support/whole-world.ts';

const GREETING = 'Hello, this is your agent, and I have quite a lot to say.';

/** Two servers on one database, behind one carrier. */
async function twoServers(callee: QuietCallee) {
  const directory = mkdtempSync(join(tmpdir(), 'svc-two-'));
  const database = await testDatabase();
  const config = readConfig({ DATABASE_URL: join(directory, 'db'), DRAIN_SECONDS: '20' });
  const { settings } = completeSettings(config, systemRandom);
  const carrier = sharedCarrier(() => callee);
  const start = () =>
    startServer({
      settings,
      database: database.target,
      port: 0,
      log: silentLog,
      clock: systemClock,
      random: systemRandom,
      secret: () => undefined,
      carrierOf: carrier.carrierOf,
      engines: sharedEngines(),
    });
  const [first, second] = [await start(), await start()];
  const agent = await fundAgent(createApi(first.url), {
    name: 'caller',
    amountRaw: 5_000_000n,
    adminApiKey: settings.adminApiKey,
    nowSeconds: epochSeconds(),
    said: () => {},
  });
  await rentNumber(database.sql, agent.agentId);
  await database.sql`insert into voice_settings (agent_id, begin_message)
    values (${agent.agentId}, ${GREETING})`;
  return {
    agent,
    carrier,
    first,
    second,
    sql: database.sql,
    async [Symbol.asyncDispose]() {
      await second[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

it('a call goes on at another process within 2 s when its own stops, under one id and with one receipt', async () => {
  const callee = new QuietCallee();
  await using world = await twoServers(callee);
  const { agent, carrier, first, second, sql } = world;
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const placed = await ask(`${first.url}/v1/calls`, {
    headers,
    body: { toNumber: '+14155550199', record: true },
  });
  const { callId } = placed.body as { callId: string };
  const read = async () => (await ask(`${second.url}/v1/calls/${callId}`, { headers })).body;
  await expect.poll(read).toMatchObject({ status: 'in_progress' });
  await expect.poll(() => callee.heardFrames, { timeout: 30_000 }).toBeGreaterThan(20);

  const recording = async () =>
    (await sql`select carrier_recording_id, began_ms, status from call_recordings`)[0];
  await expect.poll(recording, { timeout: 30_000 }).toMatchObject({ status: 'recording' });
  await expect
    .poll(async () => (await recording())?.began_ms, { timeout: 30_000 })
    .toBeGreaterThan(0);
  const begun = await recording();

  carrier.callServer(1);
  const stopping = first[Symbol.asyncDispose]();
  await expect
    .poll(async () => (await sql`select streams_opened from calls`)[0]?.streams_opened)
    .toBe(2);
  await stopping;
  expect(await read()).toMatchObject({ status: 'in_progress', terminal: false });
  expect(carrier.unheardMs()).toBeLessThanOrEqual(HANDOVER_SILENCE_MS);

  await ask(`${second.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' });
  await expect.poll(read, { timeout: 30_000 }).toMatchObject({ terminal: true });
  const events = await sql<{ name: string; payload: Record<string, unknown> }[]>`
    select name, payload from events where correlation_id = ${callId} order by id`;
  expect(events.map(({ name }) => name).slice(0, 2)).toEqual(['call.started', 'call.ended']);
  // The recording goes on at the carrier, and was announced and begun once.
  expect(events[1]?.payload.recording).toMatchObject({ consent: 'announced' });
  expect(await recording()).toMatchObject({ carrier_recording_id: begun?.carrier_recording_id });
  const legs = ['transportRaw', 'sttRaw', 'ttsRaw'].map((leg) =>
    BigInt(String(events[1]?.payload[leg])),
  );
  const { charged } = await settledMoney(sql, agent.agentId);
  const [models] = await sql<{ raw: bigint }[]>`
    select coalesce(sum(cost_raw), 0)::bigint as raw from charges where model is not null`;
  expect(legs.reduce((sum, raw) => sum + raw, models?.raw ?? 0n)).toBe(charged);
  const seconds = Number(events[1]?.payload.durationSeconds);
  expect(legs[0]).toBe((14_700n * BigInt(seconds) + 59n) / 60n);
  expect(await checkInvariants(sql)).toEqual([]);
}, 120_000);

it('a stopping process closes the media stream of the carrier itself, once the purchases of the call are written', async () => {
  const world = await startTwilioWorld({ environment: { DRAIN_SECONDS: '1' } });
  const agent = await world.caller('stopped', {}, GREETING);
  await agent.talking();
  await soon(() => expect(agent.lineOf().heard.length).toBeGreaterThan(50));
  const [stream] = agent.lineOf().streams;
  const stoppedAtMs = agent.lineOf().sinceAnswerMs();
  await world[Symbol.asyncDispose]();
  const closed = await stream?.closed;
  expect(closed?.code).toBe(1001);
  expect((closed?.atMs ?? 0) - stoppedAtMs).toBeGreaterThanOrEqual(200);
}, 120_000);

/** A call whose media is at the first server, read and hung up at the second. */
async function callAtFirst({ agent, first, second }: Awaited<ReturnType<typeof twoServers>>) {
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const body = { toNumber: '+14155550199' };
  const placed = await ask(`${first.url}/v1/calls`, { headers, body });
  const callId = String(placed.body.callId);
  const url = `${second.url}/v1/calls/${callId}`;
  const read = async () => (await ask(url, { headers })).body;
  await expect.poll(read).toMatchObject({ status: 'in_progress' });
  const hangUp = () => ask(`${url}/hangup`, { headers, method: 'POST' });
  return { callId, hangUp, read };
}

it("a hang-up received by a process without the call's media is the end reason in the row and in the receipt", async () => {
  await using world = await twoServers(new QuietCallee());
  const { first, sql } = world;
  await using _ = first;
  const { callId, hangUp, read } = await callAtFirst(world);
  await hangUp();
  await expect.poll(read, { timeout: 30_000 }).toMatchObject({ terminal: true });
  const [row] = await sql`select end_reason from calls where id = ${callId}`;
  const ended = await callEvents(sql, callId);
  expect(ended).toMatchObject([{ reason: 'agent_ended' }]);
  expect(row).toEqual({ end_reason: 'agent_ended' });
}, 120_000);

it.each([
  ['one hang-up', 1],
  ['every hang-up', 1_000],
])(
  'a hang-up received by another process is 202 and ends the call within seconds, though the carrier fails %s',
  async (_, fails) => {
    await using world = await twoServers(new QuietCallee());
    const { carrier, first, sql } = world;
    await using _first = first;
    const { callId, hangUp, read } = await callAtFirst(world);
    carrier.failHangUps(fails);
    expect(await hangUp()).toMatchObject({ status: 202, body: { status: 'ending' } });
    await expect.poll(read, { timeout: 30_000 }).toMatchObject({ terminal: true });
    expect(await callEvents(sql, callId)).toMatchObject([{ reason: 'agent_ended' }]);
  },
  120_000,
);

it('a call whose agent was stopped while no process had the call is ended by the process that takes it over', async () => {
  await using world = await twoServers(new QuietCallee());
  const { agent, carrier, first, sql } = world;
  // Nothing of it is held anew, so that no refusal of a hold ends it.
  await sql`update voice_settings
    set voice_mode = 'webhook', webhook_url = 'https://backend.example/voice'`;
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const body = { toNumber: '+14155550199' };
  const { callId } = (await ask(`${first.url}/v1/calls`, { headers, body })).body as {
    callId: string;
  };
  const row = async () =>
    (await sql`select status, end_reason as reason from calls where id = ${callId}`)[0];
  await expect.poll(row).toMatchObject({ status: 'in_progress' });
  // No notice: it went to the process that is gone.
  await sql`update agents set status = 'suspended' where id = ${agent.agentId}`;
  carrier.callServer(1);
  await first[Symbol.asyncDispose]();
  await expect.poll(row, { timeout: 30_000 }).toEqual({ status: 'completed', reason: 'suspended' });
  expect(await callEvents(sql, callId)).toMatchObject([{ reason: 'suspended' }]);
}, 120_000);

it('a call that another process takes over gets its missing greeting, and its last question is answered', async () => {
  await using world = await twoServers(new QuietCallee());
  const { carrier, first, sql } = world;
  const turnsOf = async (callId: string) =>
    await sql<{ role: string; content: string }[]>`
      select role, content from call_turns where call_id = ${callId} order by seq`;
  await sql`update voice_settings set begin_message = 'Hello.'`;
  const greeted = await callAtFirst(world);
  await sql`update voice_settings set begin_message = null`;
  const asked = await callAtFirst(world);
  await expect
    .poll(() => turnsOf(greeted.callId), { timeout: 30_000 })
    .toEqual([{ role: 'assistant', content: 'Hello.' }]);
  // As though the first process had died before the greeting, and before an answer.
  await sql`delete from call_turns`;
  await sql`insert into call_turns (call_id, seq, role, content)
    values (${asked.callId}, 1, 'user', 'What is two plus two?')`;
  carrier.callServer(1);
  await first[Symbol.asyncDispose]();
  await expect
    .poll(() => turnsOf(greeted.callId), { timeout: 30_000 })
    .toEqual([{ role: 'assistant', content: 'Hello.' }]);
  await expect
    .poll(() => turnsOf(asked.callId), { timeout: 30_000 })
    .toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
  for (const { hangUp, read } of [greeted, asked]) {
    await hangUp();
    await expect.poll(read, { timeout: 30_000 }).toMatchObject({ terminal: true });
  }
  expect(await checkInvariants(sql)).toEqual([]);
}, 120_000);

it('a call that is being opened when its process stops goes on at another process', async () => {
  await using world = await twoServers(new QuietCallee());
  const { agent, carrier, first, second, sql } = world;
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const row = async () =>
    (await sql`select id, streams_opened, status from calls where agent_id = ${agent.agentId}`)[0];
  const stopping = await sql.begin(async (tx) => {
    // The call is answered, and its money cannot be held yet.
    await tx`lock table sessions in access exclusive mode`;
    await ask(`${first.url}/v1/calls`, { headers, body: { toNumber: '+14155550199' } });
    await expect.poll(row, { timeout: 30_000 }).toMatchObject({ streams_opened: 1 });
    carrier.callServer(1);
    return { done: first[Symbol.asyncDispose]() };
  });
  await expect
    .poll(row, { timeout: 30_000 })
    .toMatchObject({ streams_opened: 2, status: 'in_progress' });
  await stopping.done;
  const callId = String((await row())?.id);
  await ask(`${second.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' });
  await expect.poll(row, { timeout: 30_000 }).toMatchObject({ status: 'completed' });
  expect(await callEvents(sql, callId)).toMatchObject([{ reason: 'agent_ended' }]);
}, 120_000);

/** Stops the first server once the far side has heard more than so many frames. Resolves when the other one has the call. */
async function stopFirstAt(
  { carrier, first, sql }: Awaited<ReturnType<typeof twoServers>>,
  callee: QuietCallee,
  frames: number,
) {
  await expect.poll(() => callee.heardFrames, { timeout: 30_000 }).toBeGreaterThan(frames);
  carrier.callServer(1);
  const stopped = first[Symbol.asyncDispose]();
  await expect
    .poll(async () => (await sql`select streams_opened from calls`)[0]?.streams_opened)
    .toBe(2);
  return { stopped };
}

it('a recording notice that a stopped process left unfinished is spoken whole by the next process before recording', async () => {
  const callee = new QuietCallee();
  await using world = await twoServers(callee);
  const { agent, first, second, sql } = world;
  const headers = { authorization: `Bearer ${agent.agentKey}` };
  const body = { toNumber: '+14155550199', record: true };
  const { callId } = (await ask(`${first.url}/v1/calls`, { headers, body })).body as {
    callId: string;
  };
  const recordings = () => sql`select status from call_recordings`;
  const { stopped } = await stopFirstAt(world, callee, 5);
  expect(await recordings()).toEqual([]);
  const heard = async () =>
    (
      await sql<{ heard: string }[]>`select coalesce(heard, content) as heard from call_turns
        where call_id = ${callId} order by seq`
    ).map((turn) => turn.heard);
  await expect
    .poll(async () => (await recordings())[0], { timeout: 20_000 })
    .toMatchObject({ status: 'recording' });
  expect((await heard()).filter((text) => text === RECORDING_NOTICE)).toHaveLength(1);
  await expect
    .poll(async () => (await heard()).at(-1), { timeout: 20_000 })
    .toMatch('I have quite a lot to say.');
  await ask(`${second.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' });
  const ended = async () => (await sql`select terminal from calls`)[0];
  await expect.poll(ended, { timeout: 30_000 }).toMatchObject({ terminal: true });
  await stopped;
  expect(await checkInvariants(sql)).toEqual([]);
}, 120_000);

it('an answer that a stopped process left unfinished is finished by the process that takes the call over', async () => {
  const callee = new QuietCallee();
  await using world = await twoServers(callee);
  const { sql } = world;
  const { callId, hangUp, read } = await callAtFirst(world);
  const { stopped } = await stopFirstAt(world, callee, 40);
  const turns = () => sql<{ role: string; heard: string | null; content: string }[]>`
    select role, heard, content from call_turns where call_id = ${callId} order by seq`;
  expect((await turns())[0]?.heard).toMatch(/^Hello/);
  await expect.poll(async () => (await turns())[1]?.content, { timeout: 40_000 }).toMatch(/\w/);
  // A caller who says nothing for 12 seconds is asked that.
  expect((await turns())[1]?.content).not.toBe('Are you still there?');
  await hangUp();
  await expect.poll(read, { timeout: 30_000 }).toMatchObject({ terminal: true });
  await stopped;
  expect(await checkInvariants(sql)).toEqual([]);
}, 120_000);
