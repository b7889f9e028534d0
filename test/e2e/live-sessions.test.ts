import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bearer } from '../support/edge.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { type RealtimeUpstream, realtimeUpstream } from '../support/realtime-upstream.ts';
import { ask, settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'svc-live-'));
afterAll(() => rmSync(directory, { recursive: true }));

let upstream: RealtimeUpstream;
beforeEach(async () => {
  upstream = await realtimeUpstream();
  upstream.greet = () => {};
});
afterEach(() => upstream[Symbol.asyncDispose]());

/** 0.05 USD a minute, and 5 %. */
const RATES = { audio_second: '833.333334' };

function catalogue(): string {
  const path = join(directory, 'catalogue.json');
  const source = {
    rail: 'direct-account',
    provider: 'acme',
    upstreamModel: 'live-1',
    rates: RATES,
  };
  const provider = { baseUrl: upstream.baseUrl, apiKeyEnv: 'ACME_KEY', dialect: 'openai-live' };
  const models = [{ id: 'acme/live', modality: 'realtime', sources: [source] }];
  writeFileSync(path, JSON.stringify({ providers: { acme: provider }, models }));
  return path;
}

const start = () =>
  startWorld(
    { CATALOG_FILE: catalogue() },
    { secret: (name) => (name === 'ACME_KEY' ? 'sk-server' : undefined) },
  );

async function open(world: WholeWorld, key: string, session: object): Promise<RealtimeClient> {
  const client = new RealtimeClient(`${world.wsUrl}/v1/live/sessions`, [], bearer(key));
  await client.opened();
  client.say({ type: 'session.start', session });
  return client;
}

const SESSION = { id: 'live_u', model: 'live-1', status: 'active', expires_at: 9 };

describe('the whole server with live sessions', () => {
  it('a live session journals a usage report before the client gets it, and charges the last report', async () => {
    await using world = await start();
    const agent = await world.fund('caller', 2_000_000n);
    const client = await open(world, agent.agentKey, { model: 'acme/live' });
    const peer = await upstream.peer();
    await peer.until('session.start');
    peer.say({ type: 'session.started', event_id: 'e1', session: SESSION });
    peer.say({ type: 'session.usage.updated', event_id: 'e2', usage: { seconds: 0.5 } });
    const report = await client.until(({ type }) => type === 'session.usage.updated');
    const [journal] = await world.sql<{ costRaw: bigint }[]>`
      select sum(cost_raw)::bigint as "costRaw" from session_journal`;
    // 416.67 and 5 %, rounded up.
    expect(report.usage).toEqual({ seconds: 0.5, cost_raw: '438' });
    expect(journal?.costRaw).toBe(438n);
    client.say({ type: 'session.close' });
    await peer.until('session.close');
    const usage = { seconds: 0.75 };
    peer.say({
      type: 'session.closed',
      event_id: 'e3',
      reason: 'close_requested',
      session: SESSION,
      usage,
    });
    const closed = await client.until(({ type }) => type === 'session.closed');
    expect(closed.usage).toEqual({ seconds: 0.75, cost_raw: '657' });
    const money = await settledMoney(world.sql, agent.agentId);
    expect([money.charged, money.spendable]).toEqual([657n, 2_000_000n - 657n]);
    const rows = await world.sql`
      select model, target_url, usage from charges where agent_id = ${agent.agentId}`;
    expect(rows).toMatchObject([
      { model: 'acme/live', target_url: 'gateway://acme/live-1', usage: { audio_second: 0.75 } },
    ]);
  });

  it('a live session speaks with the engines of this server, and charges the reported cost', async () => {
    await using world = await start();
    const agent = await world.fund('local');
    const client = await open(world, agent.agentKey, { model: 'local/realtime' });
    await client.until(({ type }) => type === 'session.started');
    client.say({ type: 'session.commentary.append', content: 'Good day.', delegation_id: null });
    const usage = await client.until(({ type }) => type === 'session.usage.updated', 30_000);
    expect(client.of('session.output_audio.delta').length).toBeGreaterThan(0);
    client.say({ type: 'session.close' });
    await client.closed;
    const { cost_raw: told } = usage.metadata as { cost_raw: string };
    expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(BigInt(told));
  });

  it('a live-session request for WebRTC, SIP or a stored session is refused with the name of the supported transport', async () => {
    await using world = await start();
    const agent = await world.fund('browser');
    const asked = [
      ['POST', '', { session: { model: 'acme/live' }, transport: { type: 'webrtc', sdp: 'x' } }],
      ['POST', '/s_1/accept', {}],
      ['POST', '/s_1/hangup', {}],
      ['POST', '/s_1/fork', {}],
      ['GET', '/s_1/content', undefined],
      ['GET', '/s_1/attach', undefined],
    ] as const;
    for (const [method, path, body] of asked) {
      const answer = await ask(`${world.url}/v1/live/sessions${path}`, {
        method,
        headers: { ...bearer(agent.agentKey), 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      expect([answer.status, answer.body]).toMatchObject([
        400,
        { error: { code: 'unsupported_transport', type: 'invalid_request_error' } },
      ]);
    }
  });
});
