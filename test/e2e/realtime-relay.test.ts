import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT_LIMITS } from '../../src/accounts/limits.ts';
import { MODEL_LIMITS } from '../../src/models/limits.ts';
import { bearer } from '../support/edge.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { type RealtimeUpstream, realtimeUpstream, usageOf } from '../support/realtime-upstream.ts';
import { selfSigned } from '../support/self-signed.ts';
import { agentWithStoredKey } from '../support/stored-key.ts';
import { ask, settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-relay-'));
afterAll(() => rmSync(directory, { recursive: true }));

const RATES = {
  text_input_token: '4',
  text_output_token: '16',
  cached_input_token: '0.4',
  audio_input_token: '32',
  audio_output_token: '64',
};
const USAGE = usageOf({ textIn: 100, audioIn: 250, cachedAudio: 200, textOut: 40, audioOut: 250 });
/** 400 + 1,600 + 80 + 640 + 16,000 micro-USD, and 5 %. */
const COST = 19_656n;

let upstream: RealtimeUpstream;
beforeEach(async () => {
  upstream = await realtimeUpstream();
});
afterEach(() => upstream[Symbol.asyncDispose]());

function catalogue(): string {
  const path = join(directory, 'catalogue.json');
  const source = { rail: 'direct-account', provider: 'acme', upstreamModel: 'v', rates: RATES };
  const provider = { baseUrl: upstream.baseUrl, apiKeyEnv: 'ACME_KEY', dialect: 'openai-realtime' };
  const models = [{ id: 'acme/voice', modality: 'realtime', sources: [source] }];
  writeFileSync(path, JSON.stringify({ providers: { acme: provider }, models }));
  return path;
}

const start = (environment: Record<string, string> = {}) =>
  startWorld(
    { CATALOG_FILE: catalogue(), ...environment },
    { secret: (name) => (name === 'ACME_KEY' ? 'sk-server' : undefined) },
  );

async function connect(world: WholeWorld, key: string): Promise<RealtimeClient> {
  const client = new RealtimeClient(`${world.wsUrl}/v1/realtime?model=acme/voice`, [], bearer(key));
  await client.until(({ type }) => type === 'session.created');
  return client;
}

describe('the whole server before an upstream of realtime sessions', () => {
  it('the official client converses over TLS with an upstream realtime session, and is charged for its turns', async () => {
    const { cert, key } = selfSigned(['127.0.0.1']);
    const file = (name: string, text: string) => {
      writeFileSync(join(directory, name), text);
      return join(directory, name);
    };
    const tls = { TLS_CERT_FILE: file('c.pem', cert), TLS_KEY_FILE: file('k.pem', key) };
    const before = getGlobalDispatcher();
    setGlobalDispatcher(new Agent({ connect: { ca: cert } }));
    try {
      await using world = await start(tls);
      const agent = await world.fund('caller', 2_000_000n);
      const client = new OpenAI({ apiKey: agent.agentKey, baseURL: `${world.url}/v1` });
      const realtime = new OpenAIRealtimeWS({ model: 'acme/voice', options: { ca: cert } }, client);
      const failed = new Promise<never>((_, reject) => realtime.on('error', reject));
      const created = new Promise<void>((resolve) =>
        realtime.on('session.created', () => resolve()),
      );
      await Promise.race([created, failed]);
      const peer = await upstream.peer();
      for (const id of ['r1', 'r2']) {
        const done = new Promise<unknown>((resolve) => {
          realtime.on('response.done', ({ response }) => {
            if (response.id === id) resolve(response.usage);
          });
        });
        realtime.send({ type: 'response.create' });
        await peer.until('response.create');
        peer.begin(id);
        peer.sound(250);
        peer.finish(id, USAGE);
        expect(await Promise.race([done, failed])).toEqual(USAGE);
      }
      realtime.close();
      await peer.closed;
      const money = await settledMoney(world.sql, agent.agentId);
      expect(money.charged).toBe(2n * COST);
      expect(money.spendable).toBe(2_000_000n - 2n * COST);
      const rows = await world.sql`
        select target_url, rail, usage, cost_raw from charges where agent_id = ${agent.agentId}`;
      expect(rows).toMatchObject([
        {
          target_url: 'gateway://acme/v',
          rail: 'direct-account',
          cost_raw: 2n * COST,
          usage: {
            text_input_token: 200,
            audio_input_token: 100,
            cached_input_token: 400,
            text_output_token: 80,
            audio_output_token: 500,
          },
        },
      ]);
    } finally {
      await getGlobalDispatcher().close();
      setGlobalDispatcher(before);
    }
  });

  it('a relayed realtime session journals a turn before the client receives its end', async () => {
    await using world = await start();
    const agent = await world.fund('journaled');
    const client = await connect(world, agent.agentKey);
    const peer = await upstream.peer();
    peer.sound(250);
    peer.finish('r1', USAGE);
    await client.until(({ type }) => type === 'response.done');
    const [journal] = await world.sql<{ costRaw: bigint }[]>`
      select sum(cost_raw)::bigint as "costRaw" from session_journal`;
    expect(journal?.costRaw).toBe(COST);
    client.ws.close();
    expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(COST);
  });

  it('a relayed realtime session first sends the settings of a client secret upstream, before any client message', async () => {
    await using world = await start();
    const agent = await world.fund('lender');
    const session = { type: 'realtime', model: 'acme/voice', instructions: 'Be brief.' };
    const { body } = await ask(`${world.url}/v1/realtime/client_secrets`, {
      headers: bearer(agent.agentKey),
      body: { session },
    });
    const client = new RealtimeClient(`${world.wsUrl}/v1/realtime`, [], bearer(String(body.value)));
    await client.until(({ type }) => type === 'session.created');
    client.ws.send(JSON.stringify({ type: 'response.create' }));
    const peer = await upstream.peer();
    await peer.until('response.create');
    expect(peer.frames.map(({ bytes }) => JSON.parse(`${bytes}`))).toEqual([
      { type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.' } },
      { type: 'response.create' },
    ]);
    client.ws.close();
    await peer.closed;
  });

  it('a client secret for a relayed session may have settings that only the upstream can check, which get them whole', async () => {
    await using world = await start();
    const agent = await world.fund('lender');
    const make = (session: object) =>
      ask(`${world.url}/v1/realtime/client_secrets`, {
        headers: bearer(agent.agentKey),
        body: { session },
      });
    const session = {
      instructions: 'Be brief. '.repeat(2_000),
      tools: [{ type: 'mcp', server_label: 'acme', server_url: 'https://mcp.acme.test' }],
      audio: {
        output: { voice: 'marin', speed: 1.6 },
        input: { noise_reduction: { type: 'far_field' } },
      },
      truncation: { type: 'retention_ratio', retention_ratio: 0.8 },
      tracing: 'auto',
    };
    const { body } = await make({ ...session, model: 'acme/voice' });
    expect(body.session).toEqual({
      ...session,
      type: 'realtime',
      object: 'realtime.session',
      model: 'acme/voice',
      id: expect.stringMatching(/^sess_/),
      expires_at: 0,
    });
    const client = new RealtimeClient(`${world.wsUrl}/v1/realtime`, [], bearer(String(body.value)));
    await client.until(({ type }) => type === 'session.created');
    client.ws.send(JSON.stringify({ type: 'response.create' }));
    const peer = await upstream.peer();
    await peer.until('response.create');
    expect(JSON.parse(`${peer.frames[0]?.bytes}`)).toEqual({
      type: 'session.update',
      session: { type: 'realtime', ...session },
    });
    client.ws.close();
    await peer.closed;

    for (const refused of [
      { ...session, model: 'local/realtime' },
      // Whoever holds it may open any model with it.
      session,
      { instructions: 'x'.repeat(ACCOUNT_LIMITS.clientSecret.sessionBytes), model: 'acme/voice' },
      { type: 'song', model: 'acme/voice' },
    ])
      expect((await make(refused)).status).toBe(400);
  });

  it("a relayed realtime session opens the upstream with the developer's stored key, for the fee", async () => {
    await using world = await start();
    const { agentId, key } = await agentWithStoredKey(world, 'acme', 'sk-of-the-developer');
    const client = await connect(world, key);
    const peer = await upstream.peer();
    expect(peer.headers.authorization).toBe('Bearer sk-of-the-developer');
    peer.finish('r1', USAGE);
    await client.until(({ type }) => type === 'response.done');
    client.ws.close();
    const money = await settledMoney(world.sql, agentId);
    expect(money.charged).toBe(MODEL_LIMITS.byokFeeRaw);
    const postings = await world.sql`select 1 from postings where 'byok' = any(credits)`;
    expect(postings).toHaveLength(1);
  });

  it("a draining server cancels a turn that outlasts the drain, and waits for the upstream's usage", async () => {
    const world = await start({ DRAIN_SECONDS: '1' });
    const agent = await world.fund('drained');
    const client = await connect(world, agent.agentKey);
    const peer = await upstream.peer();
    peer.begin('r1');
    await client.until(({ type }) => type === 'response.created');
    const stopped = world[Symbol.asyncDispose]();
    await peer.until('response.cancel');
    peer.finish('r1', USAGE, { status: 'cancelled' });
    expect((await client.closed).code).toBe(1012);
    await peer.closed;
    await stopped;
  });
});
