import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { priceRaw } from '../../src/kernel/price.ts';
import { MODEL_LIMITS } from '../../src/models/limits.ts';
import {
  type DeepgramListener,
  listenWithDeepgram,
  transcriptOf,
} from '../support/deepgram-client.ts';
import { bearer } from '../support/edge.ts';
import { type ListenUpstream, listenUpstream, wordsUpTo } from '../support/listen-upstream.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { agentWithStoredKey } from '../support/stored-key.ts';
import { bytesOf, tone } from '../support/voice-fakes.ts';
import { settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const RATE = 16_000;
const WISHES = {
  model: 'nova-3',
  language: 'en-US',
  encoding: 'linear16',
  sample_rate: RATE,
  channels: 1,
  interim_results: 'true',
  vad_events: 'true',
  utterance_end_ms: 1_000,
  endpointing: 300,
  smart_format: 'true',
  punctuate: 'true',
} as const;
/** 0.0077 USD a minute, and 5 %. */
const costOf = (seconds: number) =>
  priceRaw({ audio_second: seconds }, { audio_second: 128_333_334n }, 500);

const sound = (seconds: number) => bytesOf(tone(seconds * 1_000, RATE));

const directory = mkdtempSync(join(tmpdir(), 'svc-listen-'));
afterAll(() => rmSync(directory, { recursive: true }));

let upstream: ListenUpstream;
beforeEach(async () => {
  upstream = await listenUpstream();
});
afterEach(() => upstream[Symbol.asyncDispose]());

/** The models as they are built in, their provider standing here. */
function start(environment: Record<string, string> = {}, apiKey: string | null = 'dg-server') {
  const path = join(directory, 'catalogue.json');
  const { baseUrl } = upstream;
  const deepgram = { baseUrl, apiKeyEnv: 'DEEPGRAM_API_KEY', dialect: 'deepgram' };
  writeFileSync(path, JSON.stringify({ providers: { deepgram } }));
  return startWorld(
    { CATALOG_FILE: path, ...environment },
    { secret: (name) => (name === 'DEEPGRAM_API_KEY' ? (apiKey ?? undefined) : undefined) },
  );
}

/** uWebSockets.js may cut a socket right after a late upgrade (docs/decisions/0071): a client connects again then. */
async function listen(
  { wsUrl }: WholeWorld,
  apiKey: string,
  change: object = {},
  tries = 3,
): Promise<DeepgramListener> {
  const listener = await listenWithDeepgram({ wsUrl, apiKey }, { ...WISHES, ...change });
  listener.connection.connect();
  await listener.connection.waitForOpen();
  listener.connection.sendKeepAlive({ type: 'KeepAlive' });
  const peer = await upstream.peer();
  const came = await peer.until('KeepAlive').catch(() => undefined);
  if (came !== undefined || tries === 1) return listener;
  upstream.peers.length = 0;
  return listen({ wsUrl } as WholeWorld, apiKey, change, tries - 1);
}

async function rows(world: WholeWorld, agentId: number) {
  const money = await settledMoney(world.sql, agentId);
  const charges = await world.sql<{ cost: bigint; usage: { audio_second: number } }[]>`
    select cost_raw as cost, usage from charges where agent_id = ${agentId}`;
  const cost = charges.reduce((sum, row) => sum + row.cost, 0n);
  expect(money).toMatchObject({ spendable: money.credited - cost, charged: cost });
  const [living] = await world.sql<{ count: number }[]>`
    select count(*)::int as count from sessions where agent_id = ${agentId} and ended_at is null`;
  expect(living?.count).toBe(0);
  return charges;
}

describe("Deepgram's own client against /v1/listen before an upstream of that protocol", () => {
  it("Deepgram's client on /v1/listen is transcribed by an upstream, and pays for the duration in the final Metadata", async () => {
    await using world = await start();
    const agent = await world.fund('listener');
    const { connection, ...listener } = await listen(world, agent.agentKey);
    for (let n = 0; n < 50; n++) connection.sendMedia(sound(0.5));
    connection.sendFinalize({ type: 'Finalize' });
    await expect.poll(() => listener.of('Results').at(-1)?.from_finalize).toBe(true);
    connection.sendMedia(sound(2.345));
    connection.sendCloseStream({ type: 'CloseStream' });
    expect((await listener.closed).code).toBe(1000);
    expect(transcriptOf(listener.of('Results').at(-1))).toBe(wordsUpTo(27));
    expect(listener.events.at(-1)).toMatchObject({ type: 'Metadata', duration: 27.345 });
    expect(await rows(world, agent.agentId)).toEqual([
      { cost: costOf(27.345), usage: { audio_second: 27.345 } },
    ]);
  });

  it("Deepgram's client on /v1/listen is told when the balance is used up, after all results that it paid for", async () => {
    await using world = await start();
    const agent = await world.fund('poor', costOf(10) * 2n + 5n);
    const { connection, ...listener } = await listen(world, agent.agentKey);
    for (let n = 0; n < 60; n++) connection.sendMedia(sound(0.5));
    expect(await listener.closed).toMatchObject({ code: 1008, reason: 'insufficient_balance' });
    expect(listener.of('Metadata')).toMatchObject([{ duration: 20 }]);
    expect(listener.events.at(-1)).toMatchObject({
      type: 'Error',
      variant: 'insufficient_balance',
    });
    expect(await rows(world, agent.agentId)).toMatchObject([{ cost: costOf(20) }]);
  });

  it("Deepgram's client on /v1/listen uses the developer's stored key when this server has none", async () => {
    await using world = await start({}, null);
    const { agentId, key } = await agentWithStoredKey(world, 'deepgram', 'dg-of-the-developer');
    const { connection, ...listener } = await listen(world, key, { keyterm: 'svc' });
    const peer = await upstream.peer();
    expect(peer.headers.authorization).toBe('Token dg-of-the-developer');
    expect(peer.path).toContain('keyterm=svc');
    connection.sendMedia(sound(3));
    connection.sendCloseStream({ type: 'CloseStream' });
    await listener.closed;
    expect(await rows(world, agentId)).toMatchObject([{ cost: MODEL_LIMITS.byokFeeRaw }]);
  });
});

describe('budget races of streams at an upstream, on the real ledger', () => {
  it('concurrent streams at an upstream never spend more than the balance, each charged its reported cost, with no hold left', async () => {
    await using world = await start();
    const funds = costOf(10) * 9n;
    const agent = await world.fund('racer', funds);
    const stream = async (n: number) => {
      const path =
        n % 2 === 0
          ? '/v1/audio/transcriptions/stream?model=deepgram/nova-3'
          : '/v1/listen?model=nova-3&interim_results=true&encoding=linear16&sample_rate=16000';
      const client = new RealtimeClient(`${world.wsUrl}${path}`, [], bearer(agent.agentKey));
      try {
        await client.opened();
      } catch {
        return;
      }
      for (let sent = 0; sent < 30; sent++) client.ws.send(sound(1));
      if (n === 3) client.ws.terminate();
      else client.ws.send('{"type":"CloseStream"}');
      await client.closed;
    };
    await Promise.all(Array.from({ length: 6 }, (_, n) => stream(n)));
    const charges = await rows(world, agent.agentId);
    const sentSeconds = upstream.peers.map(({ frames }) =>
      frames.reduce((sum, { bytes, isBinary }) => sum + (isBinary ? bytes.length : 0), 0),
    );
    const told = sentSeconds.map((bytes) => bytes / RATE / 2).filter((seconds) => seconds > 0);
    const sorted = (seconds: readonly number[]) => [...seconds].sort((a, b) => a - b);
    expect(sorted(charges.map(({ usage }) => usage.audio_second))).toEqual(sorted(told));
    const spent = charges.reduce((sum, { cost }) => sum + cost, 0n);
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(funds);
    for (const { cost, usage } of charges) expect(cost).toBe(costOf(usage.audio_second));
  });

  it('a stream at an upstream settles the audio sent so far when the server drains', async () => {
    const world = await start({ DRAIN_SECONDS: '5' });
    const agent = await world.fund('drained');
    const { connection, ...listener } = await listen(world, agent.agentKey);
    connection.sendMedia(sound(3));
    await expect.poll(() => listener.of('Results').length).toBe(6);
    const stopped = world[Symbol.asyncDispose]();
    expect((await listener.closed).code).toBe(1012);
    expect(listener.of('Metadata')).toMatchObject([{ duration: 3 }]);
    await (await upstream.peer()).closed;
    await stopped;
  });
});
