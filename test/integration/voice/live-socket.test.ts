import { afterEach, describe, expect, it } from 'vitest';
import { VOICE_LIMITS } from '../../../src/voice/limits.ts';
import { type LiveWorld, liveWorld, START } from '../../support/live-world.ts';
import type { RealtimeClient } from '../../support/realtime-client.ts';
import type { UpstreamPeer } from '../../support/realtime-upstream.ts';
import { settled } from '../../support/settled.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';
import { AGENT } from '../../support/voice-world.ts';

const RATE = 24_000;
let world: LiveWorld;
afterEach(() => world[Symbol.asyncDispose]());
const start = async (options: Parameters<typeof liveWorld>[0] = {}) => {
  world = await liveWorld(options);
  return world;
};

const startHere = (more: object = {}) => ({
  type: 'session.start',
  session: { model: 'local/realtime', ...more },
});
const began = (client: RealtimeClient) => client.until(({ type }) => type === 'session.started');
const refusalOf = async (client: RealtimeClient) => {
  const { code } = await client.closed;
  const { error } = client.of('error').at(-1) as unknown as {
    error: { code: string; param?: string; client_event_id?: string };
  };
  return [code, error.code, error.param];
};
const UPSTREAM_SESSION = { id: 'live_u', model: 'live-1', status: 'active', expires_at: 9 };
/** The upstream has started the session. */
const begin = async (peer: UpstreamPeer) => {
  const text = await peer.until('session.start');
  peer.say({ type: 'session.started', event_id: 'e1', session: UPSTREAM_SESSION });
  return JSON.parse(text) as { session: object };
};
const close = (peer: UpstreamPeer, seconds: number) =>
  peer.say({
    type: 'session.closed',
    event_id: 'e3',
    reason: 'close_requested',
    session: UPSTREAM_SESSION,
    usage: { seconds },
  });

describe('the socket of live sessions', () => {
  it('the live socket serves a conversation on this server, and charges the amount that it reported', async () => {
    const { connect, ledger } = await start();
    const client = await connect();
    client.say(startHere({ instructions: 'Be brief.' }));
    await began(client);
    const sound = Buffer.concat([bytesOf(tone(600, RATE)), bytesOf(silence(900, RATE))]);
    await client.stream(sound, {
      bytesPerSecond: RATE * 2,
      send: (chunk) =>
        client.say({
          type: 'session.input_audio.append',
          audio: Buffer.from(chunk).toString('base64'),
        }),
    });
    const usage = await client.until(({ type }) => type === 'session.usage.updated');
    expect(client.of('session.input_transcript.delta')).toHaveLength(1);
    expect(client.of('session.output_audio.delta').length).toBeGreaterThan(0);
    client.say({ type: 'session.close' });
    expect((await client.closed).code).toBe(1000);
    expect(client.events.at(-1)).toMatchObject({
      type: 'session.closed',
      reason: 'close_requested',
    });
    await settled(ledger);
    const { cost_raw: told } = usage.metadata as { cost_raw: string };
    expect(ledger.consumedRaw(AGENT)).toBe(BigInt(told));
  });

  it('the live socket relays to an upstream that has the protocol, and charges the seconds that it reports', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect();
    client.say({ ...START, session: { ...START.session, instructions: 'Be brief.' } });
    const peer = await upstream.peer();
    expect([peer.path, peer.headers.authorization]).toEqual([
      '/v1/live/sessions',
      'Bearer sk-server',
    ]);
    expect((await begin(peer)).session).toEqual({ model: 'live-1', instructions: 'Be brief.' });
    expect(await began(client)).toMatchObject({ session: { model: 'acme/live' } });
    client.say({ type: 'session.input_audio.append', audio: 'AAAA' });
    await peer.until('append');
    client.say({ type: 'session.close' });
    await peer.until('session.close');
    close(peer, 0.75);
    expect((await client.closed).code).toBe(1000);
    expect(client.of('session.closed')).toMatchObject([
      { usage: { seconds: 0.75, cost_raw: '1' } },
    ]);
    await settled(ledger);
    expect(ledger.charges).toMatchObject([{ costRaw: 1n, usage: { audio_second: 0.75 } }]);
  });

  it("the live socket allows delegation to an upstream's model only on the caller's own key", async () => {
    const { connect, upstream, usedKeys } = await start({ storedKeys: { acme: 'sk-own' } });
    const delegation = { type: 'responses', responses: { model: 'gpt' } };
    const client = await connect();
    client.say({ ...START, session: { ...START.session, delegation } });
    const peer = await upstream.peer();
    expect(peer.headers.authorization).toBe('Bearer sk-own');
    expect((await begin(peer)).session).toMatchObject({ delegation });
    await began(client);
    expect(usedKeys).toEqual(['acme']);
    client.say({ type: 'session.close' });
    await peer.until('session.close');
    close(peer, 0.5);
    await client.closed;
    await settled(world.ledger);
    expect(world.ledger.charges).toMatchObject([{ rail: 'byok', usage: { request: 1 } }]);
  });

  it('the live socket refuses an invalid session before anything is held', async () => {
    const { connect, ledger, upstream } = await start();
    const backend = { type: 'responses', responses: { model: 'gpt' } };
    const refusals: [unknown, string, string | undefined][] = [
      [undefined, 'invalid_request', 'session.model'],
      [{ model: 7 }, 'invalid_request', 'session.model'],
      [{ model: 'no/such' }, 'model_not_found', 'model'],
      [{ model: 'acme/turns' }, 'invalid_request', 'session.model'],
      [{ model: 'local/pocketsphinx' }, 'invalid_request', 'model'],
      [{ model: 'local/realtime', speed: 2 }, 'unknown_parameter', 'session.speed'],
      [{ model: 'acme/live', delegation: backend }, 'unsupported_parameter', 'session.delegation'],
    ];
    for (const [session, code, param] of refusals) {
      const client = await connect();
      client.say({ type: 'session.start', event_id: 'mine', session });
      expect(await refusalOf(client)).toEqual([1008, code, param]);
    }
    expect([ledger.openHolds(), upstream.asked.count]).toEqual([0, 0]);
  });

  it('the live socket refuses a session that the balance does not cover', async () => {
    const { connect, ledger, upstream } = await start({ creditRaw: 3n });
    const client = await connect();
    client.say(START);
    expect(await refusalOf(client)).toEqual([1008, 'budget_exhausted', undefined]);
    expect([ledger.openHolds(), upstream.asked.count]).toEqual([0, 0]);
  });

  it('the live socket ends a session whose upstream refuses, with nothing held and nothing charged', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.refusals.push(503);
    const client = await connect();
    client.say(START);
    expect((await client.closed).code).toBe(1011);
    expect(client.of('error')).toHaveLength(1);
    expect([ledger.openHolds(), ledger.charges]).toEqual([0, []]);
  });

  it('the live socket answers events before session.start, and starts all the same', async () => {
    const { connect } = await start();
    const client = await connect();
    client.say({ type: 'session.input_audio.append', event_id: 'a', audio: 'AAAA' });
    client.ws.send('no JSON');
    client.say({ type: 'session.close' });
    client.say(startHere());
    await began(client);
    expect(client.of('error')).toMatchObject([
      { error: { code: 'session_not_started', client_event_id: 'a' } },
      { error: { code: 'invalid_json' } },
      { error: { code: 'session_not_started' } },
    ]);
  });

  it('the live socket opens one session however many session.start events come at once', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect();
    for (let n = 0; n < 20; n++) client.say(START);
    await begin(await upstream.peer());
    await began(client);
    expect([upstream.asked.count, ledger.openHolds()]).toEqual([1, 1]);
  });

  it('the live socket disconnects a client that floods it before the session has started', async () => {
    const { connect } = await start();
    const client = await connect();
    for (let n = 0; n <= VOICE_LIMITS.realtime.eventBurst + 500; n++) client.ws.send('{}');
    expect((await client.closed).code).toBe(1008);
  });

  it('the live socket releases its hold when the client leaves while the upstream is connecting', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.refusals.push(-1);
    const client = await connect();
    client.say(START);
    await expect.poll(() => ledger.openHolds()).toBe(1);
    client.ws.terminate();
    await settled(ledger);
    expect([ledger.openHolds(), ledger.charges]).toEqual([0, []]);
  });
});
