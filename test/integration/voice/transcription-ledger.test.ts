import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { priceRaw } from '../../../src/kernel/price.ts';
import { createLedger, type LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import { createListenSocket } from '../../../src/protocols/deepgram/listen/listen-socket.ts';
import { createRealtimeSocket } from '../../../src/protocols/openai-realtime/realtime-socket.ts';
import { createTranscriptionSocket } from '../../../src/protocols/transcript-events/transcript-socket.ts';
import { findRecentCharges } from '../../../src/spend/attribution/charge-store.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { bearer, credentialsOf, type Edge, startEdge } from '../../support/edge.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';
import { bytesOf, tone } from '../../support/voice-fakes.ts';
import { createVoiceWorld } from '../../support/voice-world.ts';

const RATE = 16_000;

let database: TestDatabase;
let ledger: LiveLedger;
let edge: Edge;
let agentId: number;

/** The sockets over fake engines, on the real ledger, for one agent with this much. */
async function start(creditRaw: bigint): Promise<void> {
  const store = createBalanceStore({
    sql: database.sql,
    node: { nodeId: 'test', leaseEpoch: 1 },
  });
  ledger = createLedger({ store, clock: systemClock, log: silentLog });
  const agent = await seedAgent(database.sql);
  const keyId = agent.keyId;
  agentId = agent.agentId;
  await ledger.credit({ agentId, amountRaw: creditRaw, reference: 'start' });
  const { deps } = await createVoiceWorld({
    clock: systemClock,
    creditRaw,
    change: { ledger },
  });
  edge = await startEdge({
    sockets: [
      createTranscriptionSocket(deps),
      createRealtimeSocket(deps),
      createListenSocket(deps),
    ],
    credentials: credentialsOf({ agentId, keyId }),
  });
}

beforeEach(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  await edge[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

async function connect(path: string, tags: Record<string, string> = {}): Promise<RealtimeClient> {
  const headers = { ...bearer('svc_1'), ...tags };
  const client = new RealtimeClient(`ws://127.0.0.1:${edge.port}${path}`, [], headers);
  await client.opened();
  return client;
}

/** What the agent has once its session is settled, and the lines it left. */
async function settled() {
  await expect.poll(async () => (await ledger.funds(agentId))?.heldRaw).toBe(0n);
  const funds = await ledger.funds(agentId);
  const charges = await database.sql<{ cost_raw: bigint; usage: Record<string, number> }[]>`
    select cost_raw, usage from charges where agent_id = ${agentId}`;
  return { funds, charges };
}

describe('voice sessions on the real ledger', () => {
  it('a voice session ends a transcription at the last second that its hold covers, and its charge equals the balance lost', async () => {
    await start(250n);
    const client = await connect('/v1/audio/transcriptions/stream?model=local/pocketsphinx');
    client.ws.send(bytesOf(tone(30_000, RATE)));
    expect(await client.closed).toEqual({ code: 1008, reason: 'insufficient_balance' });
    const { funds, charges } = await settled();
    expect(funds).toMatchObject({ spendableRaw: 8n, heldRaw: 0n });
    expect(charges).toHaveLength(1);
    expect(charges[0]).toMatchObject({ cost_raw: 242n, usage: { audio_second: 23 } });
  });

  it('a voice session settles a conversation to the sum of its turns', async () => {
    await start(1_000_000n);
    const client = await connect('/v1/realtime?model=local/realtime');
    for (const turn of [1, 2, 3]) {
      client.say({ type: 'response.create' });
      await client.until(() => client.of('response.done').length === turn);
    }
    client.ws.close();
    await client.closed;
    const { funds, charges } = await settled();
    expect(funds?.heldRaw).toBe(0n);
    expect(charges).toHaveLength(1);
    expect((funds?.spendableRaw ?? 0n) + (charges[0]?.cost_raw ?? 0n)).toBe(1_000_000n);
  });

  it('a voice session stores its tags in the charge on either socket, normalized, and none for an empty tag', async () => {
    await start(1_000_000n);
    const tags = {
      'x-svc-task-id': ' Errand-7 ',
      'x-svc-action-id': 'READ Aloud',
      'x-svc-customer-id': 'x'.repeat(129),
    };
    for (const path of [
      '/v1/audio/transcriptions/stream?model=local/pocketsphinx',
      '/v1/realtime?model=local/realtime&customer_id=ignored',
    ]) {
      const client = await connect(path, tags);
      if (path.includes('realtime')) {
        client.say({ type: 'response.create' });
        await client.until(() => client.of('response.done').length === 1);
      } else client.ws.send(bytesOf(tone(1_000, RATE)));
      client.ws.close();
      await client.closed;
      await settled();
    }
    const rows = await database.sql`
      select task_id as task, action_id as action, customer_id as customer from charges
      where agent_id = ${agentId}`;
    const expected = { task: 'errand-7', action: 'read aloud', customer: null };
    expect(rows).toEqual([expected, expected]);
  });
});

const PATHS = [
  '/v1/audio/transcriptions/stream?model=local/pocketsphinx',
  '/v1/listen?model=local/pocketsphinx&encoding=linear16&sample_rate=16000&interim_results=true',
];

/** Everything an agent ever had is free or charged, nothing is held, and rows cost what their seconds cost. */
async function wholeBooks(creditRaw: bigint): Promise<{ readonly seconds: number }> {
  const { charges, funds } = await settled();
  const cost = charges.reduce((sum, row) => sum + row.cost_raw, 0n);
  expect(funds).toMatchObject({ heldRaw: 0n, spendableRaw: creditRaw - cost });
  const seconds = charges.reduce((sum, { usage }) => sum + (usage.audio_second ?? 0), 0);
  const rows = charges.map(({ usage }) => priceOf(usage.audio_second ?? 0));
  expect(charges.map((row) => row.cost_raw)).toEqual(rows);
  const [living] = await database.sql<{ count: number }[]>`
    select count(*)::int as count from sessions where agent_id = ${agentId} and ended_at is null`;
  expect(living?.count).toBe(0);
  return { seconds: Math.round(seconds * 1_000) / 1_000 };
}

const priceOf = (seconds: number) =>
  priceRaw({ audio_second: seconds }, { audio_second: 10_000_000n }, 500);

describe.each(PATHS)('a client that misbehaves on %s', (path) => {
  const durations = (client: RealtimeClient) =>
    client.of('Metadata').map(({ duration }) => duration);
  const isListen = path.startsWith('/v1/listen');

  it('a transcription client that vanishes after any of its messages pays for the audio heard', async () => {
    await start(1_000_000n);
    const pieces = [tone(400, RATE), tone(9_000, RATE), tone(700, RATE), tone(1, RATE)];
    const messages = [...pieces.map(bytesOf), '{"type":"Finalize"}', '{"type":"CloseStream"}'];
    let before = 0;
    for (let count = 0; count <= messages.length; count++) {
      const client = await connect(path);
      for (const message of messages.slice(0, count)) client.ws.send(message);
      client.ws.terminate();
      await client.closed;
      const sent = pieces.slice(0, count).reduce((sum, pcm) => sum + pcm.length / RATE, 0);
      await expect.poll(() => edge.server.openSockets).toBe(0);
      const { charges } = await settled();
      const all = charges.reduce((sum, { usage }) => sum + (usage.audio_second ?? 0), 0);
      expect(all - before).toBeLessThanOrEqual(sent + 0.000_5);
      before = all;
    }
    await wholeBooks(1_000_000n);
  });

  it('a transcription client pays the same for single bytes as for whole seconds', async () => {
    await start(1_000_000n);
    const client = await connect(path);
    // With the empty ones, fewer messages than may wait.
    const bytes = bytesOf(tone(125, RATE));
    for (const byte of bytes) client.ws.send(Uint8Array.of(byte));
    for (let i = 0; i < 1_000; i++) client.ws.send(new Uint8Array());
    client.say({ type: 'CloseStream' });
    expect((await client.closed).code).toBe(1000);
    expect(await wholeBooks(1_000_000n)).toEqual({ seconds: 0.125 });
    expect(durations(client)).toEqual(isListen ? [0.125] : []);
  });

  it('a transcription client that floods is disconnected, and pays for the audio accepted', async () => {
    await start(1_000_000n);
    const client = await connect(path);
    const tenSeconds = bytesOf(tone(10_000, RATE));
    for (let i = 0; i < 40; i++) client.ws.send(tenSeconds);
    expect(await client.closed).toMatchObject({ code: 1008, reason: 'audio_too_fast' });
    const { seconds } = await wholeBooks(1_000_000n);
    expect(seconds).toBeLessThanOrEqual(125);
    expect(durations(client)).toEqual(isListen ? [seconds] : []);
  });

  it('a transcription client that sends faster than its balance allows gets the seconds that it paid for', async () => {
    await start(250n);
    const client = await connect(path);
    for (let i = 0; i < 10; i++) client.ws.send(bytesOf(tone(10_000, RATE)));
    expect((await client.closed).code).toBe(1008);
    expect(await wholeBooks(250n)).toEqual({ seconds: 23 });
    expect(durations(client)).toEqual(isListen ? [23] : []);
  });
});

describe('the row of a session', () => {
  it('the charge of a voice session shows its developer how it went and how it ended, on either socket', async () => {
    await start(1_000_000n);
    const realtime = await connect('/v1/realtime?model=local/realtime');
    for (const turn of [1, 2]) {
      realtime.say({ type: 'response.create' });
      await realtime.until(() => realtime.of('response.done').length === turn);
    }
    realtime.ws.close();
    await realtime.closed;
    await settled();
    const stream = await connect('/v1/audio/transcriptions/stream?model=local/pocketsphinx');
    stream.ws.send(bytesOf(tone(1_500, RATE)));
    stream.say({ type: 'CloseStream' });
    await stream.closed;
    const { charges } = await settled();
    const [spoken] = charges;

    const [agent] = await database.sql<{ account_id: string }[]>`
      select account_id from agents where id = ${agentId}`;
    const lines = await findRecentCharges(database.sql, agent?.account_id ?? '', 10);
    expect(lines.map(({ amountRaw }) => amountRaw)).toEqual(
      charges.map(({ cost_raw: costRaw }) => costRaw).reverse(),
    );
    const stage = { count: 2, meanMs: expect.any(Number), maxMs: expect.any(Number) };
    const none = { interruptions: 0, underruns: null };
    expect(lines.map(({ session }) => session)).toMatchObject([
      {
        kind: 'transcription',
        reason: 'done',
        summary: { ...none, turns: 1, heardSeconds: 1.5, spokenSeconds: 0 },
      },
      {
        kind: 'realtime',
        reason: expect.any(String),
        summary: {
          turns: 2,
          interruptions: 0,
          heardSeconds: 0,
          jitterMs: null,
          underruns: 0,
          stages: { prompt: stage, reply: stage, first_audio: stage, journal: stage },
        },
      },
    ]);
    // The same speech was charged for, by the character and the token of 50 ms.
    const said = lines[1]?.session?.summary?.spokenSeconds ?? 0;
    expect(Math.abs(said * 20 - (spoken?.usage.audio_output_token ?? said * 20))).toBeLessThan(3);
  });
});
