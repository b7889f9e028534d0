import { afterEach, describe, expect, it } from 'vitest';
import { HTTP_LIMITS } from '../../../src/http/limits.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { VOICE_LIMITS } from '../../../src/voice/limits.ts';
import { bearer, KEYS } from '../../support/edge.ts';
import type { FakeLedger } from '../../support/fake-ledger.ts';
import { type UpstreamPeer, usageOf } from '../../support/realtime-upstream.ts';
import { LEAST_TURN_RAW, type RelayWorld, relayWorld } from '../../support/relay-world.ts';
import { settled } from '../../support/settled.ts';
import { refusal, TestSocket } from '../../support/web-socket-client.ts';

let world: RelayWorld;
afterEach(() => world[Symbol.asyncDispose]());

async function start(options: Parameters<typeof relayWorld>[0] = {}) {
  world = await relayWorld(options);
  return world;
}

/** Frames that a relay which reads and writes them again would change. */
const ODD_FRAMES = [
  '{ "type" :  "session.update",\n"session":{"instructions":"caf\\u00e9 – 漢字 🙂"} }',
  '{"type":"input_audio_buffer.append","audio":"AAAA","audio":"BBBB"}',
  '{"a":1.0,"b":1e3,"c":12345678901234567890,"type":"x.y"}',
  'not JSON at all: "response.done"',
  '{"event_id":"e","type":"response.output_audio.delta","delta":"\\"response.done\\""}',
  '',
  'x'.repeat(300_000),
];

/** What an upstream may do that has taken an upgrade, instead of greeting. */
const DEATHS: [string, (peer: UpstreamPeer) => void][] = [
  ['closes', (peer) => peer.ws.close(1011, 'out of order')],
  ['closes as if all were well', (peer) => peer.ws.close(1000)],
  ['breaks the connection', (peer) => peer.ws.terminate()],
  [
    'reports an error and closes',
    (peer) => {
      peer.say({ type: 'error', error: { code: 'invalid_api_key', message: 'not sk-server' } });
      peer.ws.close(3000);
    },
  ],
  ['reports an error and stays', (peer) => peer.say({ type: 'error', error: {} })],
  ['says nothing', () => {}],
];

/** How many sessions were settled. */
function countSettlements(ledger: FakeLedger): () => number {
  const { closeSession } = ledger;
  let count = 0;
  ledger.closeSession = async (request) => {
    count++;
    return closeSession(request);
  };
  return () => count;
}

describe('a relayed realtime session', () => {
  it("a relayed realtime session opens the model's upstream with the credential of this server, and relays its greeting", async () => {
    const { connect, upstream } = await start();
    const client = await connect();
    const created = await client.until(({ type }) => type === 'session.created');
    expect(created).toEqual({ type: 'session.created', session: { id: 'sess_u' } });
    const peer = await upstream.peer();
    expect(peer.path).toBe('/v1/realtime?model=voice-1');
    expect(peer.headers.authorization).toBe('Bearer sk-server');
    expect(JSON.stringify(peer.headers)).not.toContain(KEYS.agent);
  });

  it('a relayed realtime session passes every frame unchanged, text and binary, both ways and in order', async () => {
    const { upstream, url } = await start();
    const [greeting = '', ...frames] = ODD_FRAMES;
    upstream.greet = (peer) => peer.ws.send(greeting);
    const client = new TestSocket(url(), [], bearer(KEYS.agent));
    await client.opened();
    const peer = await upstream.peer();
    const bytes = Buffer.from([0, 255, 128, 10, 34]);
    client.ws.send(greeting);
    for (const text of frames) {
      client.ws.send(text);
      peer.ws.send(text);
    }
    client.ws.send(bytes);
    peer.ws.send(bytes);
    client.ws.send('the last');
    peer.ws.send('the last');
    await peer.until('the last');
    await expect.poll(() => client.texts.at(-1)).toBe('the last');
    const sent = peer.frames.map((frame) => (frame.isBinary ? frame.bytes : `${frame.bytes}`));
    expect(sent).toEqual([...ODD_FRAMES, bytes, 'the last']);
    expect(client.texts).toEqual([...ODD_FRAMES, 'the last']);
    expect(client.binaries).toEqual([bytes]);
  });

  it("a relayed realtime session uses the catalogue's model name to the client, and the upstream's name to the upstream", async () => {
    const { connect, upstream } = await start();
    const session = { type: 'realtime', id: 'sess_u', model: 'voice-1', tools: [{ model: 'x' }] };
    upstream.greet = (peer) => peer.say({ type: 'session.created', event_id: 'e1', session });
    // By its bare name, which is that of one model alone.
    const client = await connect('voice');
    const named = { ...session, model: 'acme/voice' };
    const created = await client.until(({ type }) => type === 'session.created');
    expect(created).toEqual({ type: 'session.created', event_id: 'e1', session: named });

    const peer = await upstream.peer();
    for (const model of ['acme/voice', 'voice']) {
      client.say({ type: 'session.update', session: { type: 'realtime', model, voice: 'a' } });
    }
    // As clients write it whose JSON has blanks, and with its type behind the rest.
    client.ws.send('{"session": {"model": "acme/voice", "voice": "b"}, "type": "session.update"}');
    client.say({ type: 'input_audio_buffer.commit', model: 'acme/voice' });
    await peer.until('commit');
    const asked = {
      type: 'session.update',
      session: { type: 'realtime', model: 'voice-1', voice: 'a' },
    };
    expect(peer.frames.map(({ bytes }) => JSON.parse(`${bytes}`))).toEqual([
      asked,
      asked,
      { type: 'session.update', session: { model: 'voice-1', voice: 'b' } },
      { type: 'input_audio_buffer.commit', model: 'acme/voice' },
    ]);
    peer.say({ type: 'session.updated', session });
    const updated = await client.until(({ type }) => type === 'session.updated');
    expect(updated.session).toEqual(named);
  });

  it('a relayed realtime session tries the next source when one fails to connect, and holds nothing for the first', async () => {
    const { connect, ledger, second, upstream } = await start();
    upstream.refusals.push(500);
    const client = await connect();
    await client.until(({ type }) => type === 'session.created');
    expect((await second.peer()).path).toBe('/v1/realtime?model=voice-2');
    expect(ledger.openHolds()).toBe(1);
    client.ws.close();
    await settled(ledger);
    expect(ledger.charges).toEqual([]);
  });

  it.each([
    ['5xx', 503, 502, 'all_sources_failed'],
    ['a connection that is cut', 0, 502, 'all_sources_failed'],
    ['silence', -1, 502, 'all_sources_failed'],
    ['a credential of this server that is refused', 401, 502, 'all_sources_failed'],
    ['too many requests', 429, 429, 'upstream_rate_limited'],
    ['a model that it does not have', 404, 502, 'upstream_declined'],
  ])(
    'a relayed realtime session turns %s of the only source into a refusal of the upgrade, nothing charged',
    async (_, failure, status, code) => {
      const { ledger, upstream, url } = await start(failure === -1 ? { connectMs: 300 } : {});
      upstream.refusals.push(failure);
      const answer = await refusal(url('acme/alone'), [], bearer(KEYS.agent));
      expect(answer.status).toBe(status);
      expect(answer.body.error).toMatchObject({ code, message: expect.any(String) });
      expect(ledger.openHolds()).toBe(0);
      expect(ledger.consumedRaw(7)).toBe(0n);
    },
  );

  it.each(DEATHS)(
    'a relayed realtime session tries the next source when the first takes the upgrade and then %s, with nothing held or paid',
    async (_, die) => {
      const { connect, ledger, second, upstream } = await start({ connectMs: 300 });
      upstream.greet = die;
      const settlements = countSettlements(ledger);
      const client = await connect();
      expect(await client.until(({ type }) => type === 'session.created')).toBeDefined();
      expect([upstream.asked.count, second.asked.count]).toEqual([1, 1]);
      expect([settlements(), ledger.openHolds()]).toEqual([1, 1]);
      const peer = await second.peer();
      peer.begin('r1');
      peer.finish('r1', usageOf({ audioIn: 10 }));
      await client.until(({ type }) => type === 'response.done');
      client.ws.close();
      await settled(ledger);
      expect(ledger.charges).toMatchObject([{ costRaw: 10n }]);
      expect([settlements(), ledger.consumedRaw(7)]).toEqual([2, 10n]);
      await (await upstream.peer()).closed;
    },
  );

  it.each(DEATHS)(
    'a relayed realtime session is refused when every source takes the upgrade and then %s, with nothing held or paid',
    async (_, die) => {
      const { ledger, second, upstream, url } = await start({ connectMs: 300 });
      upstream.greet = die;
      second.greet = die;
      const answer = await refusal(url(), [], bearer(KEYS.agent));
      expect([answer.status, answer.body.error]).toMatchObject([
        502,
        { code: 'all_sources_failed' },
      ]);
      expect(JSON.stringify(answer.body)).not.toContain('sk-');
      expect([upstream.asked.count, second.asked.count]).toEqual([1, 1]);
      expect([ledger.openHolds(), ledger.charges]).toEqual([0, []]);
    },
  );

  it('a relayed realtime session closes an upstream that has not greeted when its client gives up', async () => {
    const { ledger, upstream, url } = await start();
    upstream.greet = () => {};
    const client = new TestSocket(url(), [], bearer(KEYS.agent));
    const peer = await upstream.peer();
    client.ws.terminate();
    await peer.closed;
    await settled(ledger);
    expect(ledger.charges).toEqual([]);
  });

  it('a relayed realtime session is refused with 402, without an upstream request, when not even the smallest turn is covered', async () => {
    const { ledger, upstream, url } = await start({ creditRaw: LEAST_TURN_RAW - 1n });
    const answer = await refusal(url('acme/alone'), [], bearer(KEYS.agent));
    expect(answer.status).toBe(402);
    expect(answer.body.error).toMatchObject({ code: 'budget_exhausted' });
    expect([upstream.asked.count, ledger.openHolds()]).toEqual([0, 0]);
  });

  it("a relayed realtime session uses the caller's stored key for the fixed fee per turn, and the pool when that key is refused", async () => {
    const { connect, ledger, upstream, usedKeys } = await start({ storedKeys: { acme: 'sk-own' } });
    const client = await connect('acme/alone');
    const peer = await upstream.peer();
    expect(peer.headers.authorization).toBe('Bearer sk-own');
    expect(usedKeys).toEqual(['acme']);
    const search = { type: 'session.update', session: { tools: [{ type: 'web_search' }] } };
    client.say(search);
    await peer.until('web_search');
    peer.begin('r1');
    peer.finish('r1', usageOf({ audioIn: 1_000, audioOut: 1_000 }));
    await client.until(({ type }) => type === 'response.done');
    client.ws.close();
    await settled(ledger);
    expect(ledger.charges).toMatchObject([{ costRaw: MODEL_LIMITS.byokFeeRaw, rail: 'byok' }]);

    upstream.refusals.push(401);
    const pooled = await connect('acme/alone');
    const paidHere = await upstream.peer(1);
    expect(paidHere.headers.authorization).toBe('Bearer sk-server');
    pooled.say(search);
    const { error } = await pooled.until(({ type }) => type === 'error');
    expect(error).toMatchObject({ code: 'unsupported_parameter', param: 'session.tools[0]' });
    expect(paidHere.frames).toEqual([]);
    pooled.ws.close();
    await settled(ledger);
  });

  it('a relayed realtime session uses the provider key in the header of the upgrade', async () => {
    const { connect, upstream, usedKeys } = await start();
    await connect('acme/alone', { 'x-svc-provider-key': 'sk-brought' });
    expect((await upstream.peer()).headers.authorization).toBe('Bearer sk-brought');
    expect(usedKeys).toEqual([]);
  });

  it('the realtime relay still serves the live models of this server itself', async () => {
    const { connect, upstream } = await start();
    const client = await connect('local/realtime');
    const created = await client.until(({ type }) => type === 'session.created');
    expect(created.session).toMatchObject({ model: 'local/realtime' });
    expect(upstream.asked.count).toBe(0);
  });

  it.each([
    ['acme/voice', 'stt_model'],
    ['acme/voice', 'tts_model'],
    ['local/realtime', 'tts_model'],
  ])(
    'a relayed realtime session of %s, which transcribes and speaks by itself, refuses a query with %s by 400',
    async (model, param) => {
      const { ledger, upstream, url } = await start();
      const answer = await refusal(`${url(model)}&${param}=local/flite`, [], bearer(KEYS.agent));
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ code: 'invalid_request', param });
      expect(ledger.openHolds()).toBe(0);
      expect(upstream.asked.count).toBe(0);
    },
  );

  it('a relayed realtime session closes as its upstream closed, and reports an abnormal end', async () => {
    const { connect, ledger, upstream } = await start();
    const normal = await connect();
    (await upstream.peer(0)).ws.close(1000, 'session is over');
    expect(await normal.closed).toEqual({ code: 1000, reason: 'session is over' });

    const broken = await connect();
    (await upstream.peer(1)).ws.terminate();
    expect(await broken.closed).toEqual({ code: 1011, reason: 'upstream_closed' });
    expect(broken.of('error')).toMatchObject([
      { error: { type: 'server_error', code: 'upstream_closed' } },
    ]);
    await settled(ledger);
  });

  it('a relayed realtime session closes its upstream when the client leaves', async () => {
    const { connect, upstream } = await start();
    const client = await connect();
    const peer = await upstream.peer();
    client.ws.terminate();
    expect((await peer.closed).code).toBe(1000);
  });

  it('a relayed realtime session finishes the turn in progress when the server drains, then closes 1012', async () => {
    const { connect, ledger, sessions, upstream } = await start();
    const idle = await connect();
    const client = await connect();
    const peer = await upstream.peer(1);
    peer.begin('r1');
    await client.until(({ type }) => type === 'response.created');
    const drained = sessions.drain(5_000);
    expect((await idle.closed).code).toBe(1012);
    peer.finish('r1', usageOf({ audioOut: 10 }));
    await client.until(({ type }) => type === 'response.done');
    expect((await client.closed).code).toBe(1012);
    await drained;
    expect([ledger.openHolds(), ledger.consumedRaw(7)]).toEqual([0, 20n]);
  });
});

describe('a relay between peers of unequal speed', () => {
  it('a realtime relay reads its upstream no faster than the client takes the frames, and loses nothing', async () => {
    const { connect, upstream } = await start();
    const client = await connect();
    const peer = await upstream.peer();
    await client.until(({ type }) => type === 'session.created');
    client.ws.pause();
    const chunk = 'a'.repeat(64 * 1024);
    let sent = 0;
    // What the two systems buffer is a few megabytes; an upstream that is not held back takes all of this.
    while (sent < 1_000 && peer.ws.bufferedAmount < 4 * 1024 * 1024) {
      peer.say({ type: 'response.output_audio.delta', n: sent++, delta: chunk });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(1_000);
    client.ws.resume();
    await client.until((event) => event.n === sent - 1);
    const numbers = client.of('response.output_audio.delta').map(({ n }) => n);
    expect(numbers).toEqual(Array.from({ length: sent }, (_, n) => n));
  });

  it('a realtime relay closes 1013 when its upstream does not take what the client sends', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect();
    const peer = await upstream.peer();
    peer.ws.pause();
    const append = JSON.stringify({
      type: 'input_audio_buffer.append',
      audio: 'a'.repeat(512 * 1024),
    });
    const flood = setInterval(() => client.ws.send(append, () => {}), 2);
    try {
      expect(await client.closed).toEqual({ code: 1013, reason: 'upstream_too_slow' });
    } finally {
      clearInterval(flood);
    }
    await settled(ledger);
  });

  it('a realtime relay closes 1008 for a client that floods its upstream, and 1009 for a frame that is too long', async () => {
    const { connect, ledger } = await start();
    const flooding = await connect();
    for (let n = 0; n < 2 * VOICE_LIMITS.realtime.eventBurst; n++) flooding.ws.send('{}');
    expect(await flooding.closed).toEqual({ code: 1008, reason: 'rate_limit_exceeded' });
    const long = await connect();
    long.ws.send('x'.repeat(HTTP_LIMITS.socket.messageBytes + 1));
    expect((await long.closed).code).toBe(1009);
    await settled(ledger);
  });
});
