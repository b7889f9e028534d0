import { afterEach, describe, expect, it } from 'vitest';
import { VOICE_LIMITS } from '../../../src/voice/limits.ts';
import { bearer, KEYS } from '../../support/edge.ts';
import { tellTurns } from '../../support/listen-upstream.ts';
import { LISTEN, type ListenWorld, listenWorld, RATE, TURNS } from '../../support/listen-world.ts';
import { settled } from '../../support/settled.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';
import { AGENT } from '../../support/voice-world.ts';
import { refusal } from '../../support/web-socket-client.ts';

const LOCAL = `${TURNS}local/pocketsphinx`;
const FLUX = `${TURNS}flux-general-en`;
const CLOSE = '{"type":"CloseStream"}';
const sound = (seconds: number) => Buffer.alloc(2 * RATE * seconds, 1);

let world: ListenWorld | undefined;
afterEach(() => world?.[Symbol.asyncDispose]());

async function start(options: Parameters<typeof listenWorld>[0] = {}) {
  world = await listenWorld(options);
  tellTurns(world.upstream);
  return world;
}

describe('turns that are heard here', () => {
  it('turns of the local transcriber are reported in order, counted, and charged by their seconds', async () => {
    const { connect, ledger } = await start();
    const client = await connect(`${LOCAL}&eager_eot_threshold=0.5`);
    client.ws.send(bytesOf(tone(1_000, RATE)));
    for (let i = 0; i < 20; i++) client.ws.send(bytesOf(silence(100, RATE)));
    await client.until(({ event }) => event === 'EndOfTurn');
    client.ws.send(CLOSE);
    expect((await client.closed).code).toBe(1000);
    const events = client
      .of('TurnInfo')
      .map(({ event }) => event)
      .filter((event) => event !== 'Update');
    expect(events).toEqual(['StartOfTurn', 'EagerEndOfTurn', 'EndOfTurn']);
    expect(client.types()[0]).toBe('Connected');
    await settled(ledger);
    expect(ledger.charges).toMatchObject([{ agentId: AGENT, usage: { audio_second: 3 } }]);
  });

  it('turns of the local transcriber end where the client says so, and follow changed settings', async () => {
    const { connect } = await start();
    const client = await connect(`${LOCAL}&eot_threshold=1`);
    client.ws.send(JSON.stringify({ type: 'Configure', thresholds: { eot_timeout_ms: 60_000 } }));
    await client.until(({ type }) => type === 'ConfigureSuccess');
    client.ws.send(bytesOf(tone(1_000, RATE)));
    client.ws.send('{"type":"ForceEndTurn"}');
    await client.until(({ trigger }) => trigger === 'manual');
    client.ws.send('{"type":"Configure","thresholds":{"eot_threshold":7}}');
    await client.until(({ type }) => type === 'ConfigureFailure');
    client.ws.send('{"type":"NoSuchWord"}');
    expect(await client.closed).toMatchObject({ code: 1008, reason: 'UNPARSABLE_CLIENT_MESSAGE' });
    expect(client.of('Error')).toMatchObject([{ code: 'UNPARSABLE_CLIENT_MESSAGE' }]);
  });

  it('the local transcriber closes on a container format, and charges nothing', async () => {
    const { connect, ledger } = await start();
    const client = await connect('/v2/listen?model=local/pocketsphinx');
    client.ws.send(Buffer.from('OggS and so on'));
    expect((await client.closed).code).toBe(1008);
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
  });
});

describe('turns of an upstream', () => {
  it('turns of an upstream are relayed unchanged, both ways, and charged by the audio sent', async () => {
    const { connect, ledger, upstream } = await start();
    const wish = '&eot_threshold=0.8&eager_eot_threshold=0.4&tag=x';
    const client = await connect(`${FLUX}${wish}`);
    const peer = await upstream.peer();
    const asked = new URL(peer.path, 'ws://peer');
    expect(asked.pathname).toBe('/v2/listen');
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      model: 'flux-general-en',
      encoding: 'linear16',
      sample_rate: '16000',
      eot_threshold: '0.8',
      eager_eot_threshold: '0.4',
    });
    client.ws.send(sound(2));
    await client.until(({ audio_window_end }) => audio_window_end === 2);
    const configure = '{"type":"Configure","thresholds":{"eot_threshold":0.9}}';
    client.ws.send(configure);
    client.ws.send('{"type":"ForceEndTurn"}');
    client.ws.send(CLOSE);
    expect((await client.closed).code).toBe(1000);
    expect(client.types().filter((type, i, all) => type !== all[i - 1])).toEqual([
      'Connected',
      'TurnInfo',
    ]);
    const texts = peer.frames.flatMap(({ bytes, isBinary }) =>
      isBinary ? [] : [bytes.toString('utf8')],
    );
    expect(texts).toEqual([configure, '{"type":"ForceEndTurn"}', CLOSE]);
    await settled(ledger);
    expect(ledger.charges).toMatchObject([{ costRaw: 20n, usage: { audio_second: 2 } }]);
  });

  it('turns of an upstream follow changed settings, but not key terms on the account of this server', async () => {
    const { connect, upstream } = await start();
    const client = await connect(FLUX);
    const say = (message: object) => client.say({ type: 'Configure', ...message });
    say({ keyterms: ['svc'], thresholds: { eot_threshold: 0.6 } });
    say({ keyterms: 'svc' });
    say({ keyterms: [], thresholds: { eot_threshold: 0.8, eager_eot_threshold: null }, more: 1 });
    say({ language_hints: ['en'] });
    client.ws.send(CLOSE);
    await client.closed;
    const { frames } = await upstream.peer();
    expect(frames.map(({ bytes }) => JSON.parse(bytes.toString()))).toEqual([
      { type: 'Configure', thresholds: { eot_threshold: 0.8, eager_eot_threshold: null } },
      { type: 'Configure', language_hints: ['en'] },
      { type: 'CloseStream' },
    ]);
    expect(client.of('ConfigureFailure')).toMatchObject([
      { description: expect.stringContaining('key of your own') },
      {},
    ]);
  });

  it('turns of an upstream follow changed key terms on an account of the client', async () => {
    const { connect, upstream } = await start({ storedKeys: { deepgram: 'dg-own' } });
    const client = await connect(FLUX);
    const configure = '{"type":"Configure","keyterms":["svc"],"more":1}';
    client.ws.send(configure);
    client.ws.send(CLOSE);
    await client.closed;
    const { frames } = await upstream.peer();
    expect(frames.map(({ bytes }) => bytes.toString())).toEqual([configure, CLOSE]);
  });

  it('turns of an upstream that breaks off are charged up to the last reported time', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect(FLUX);
    const peer = await upstream.peer();
    client.ws.send(sound(3));
    await client.until(({ audio_window_end }) => audio_window_end === 3);
    client.ws.send(Buffer.alloc(RATE / 2));
    peer.ws.terminate();
    expect((await client.closed).code).toBe(1011);
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(30n);
    expect([ledger.openHolds(), ledger.conflicts]).toEqual([0, []]);
  });

  it('turns of an upstream that breaks off after any event are charged up to that event, once', async () => {
    for (const seconds of [0, 1, 2, 3, 4]) {
      await using cut = await start();
      const client = await cut.connect(FLUX);
      const peer = await cut.upstream.peer();
      for (let at = 1; at <= seconds; at++) {
        client.ws.send(sound(1));
        await client.until(({ audio_window_end }) => audio_window_end === at);
      }
      peer.ws.terminate();
      expect((await client.closed).code).toBe(1011);
      await settled(cut.ledger);
      expect([seconds, cut.ledger.consumedRaw(AGENT)]).toEqual([seconds, 10n * BigInt(seconds)]);
      expect([cut.ledger.openHolds(), cut.ledger.conflicts]).toEqual([0, []]);
    }
  });

  it('turns of an upstream that reports false times cost no more than the audio sent', async () => {
    for (const lie of [-1, 0, 1e308, '2', null, true, {}, 'NaN']) {
      await using lied = await start();
      lied.upstream.script.heard = (peer) =>
        peer.say({ type: 'TurnInfo', event: 'Update', audio_window_end: lie });
      lied.upstream.script.lastWord = () => {};
      const client = await lied.connect(FLUX);
      client.ws.send(sound(2));
      await client.until(({ type }) => type === 'TurnInfo');
      client.ws.send(CLOSE);
      await client.closed;
      await settled(lied.ledger);
      expect(lied.ledger.consumedRaw(AGENT)).toBeLessThanOrEqual(20n);
      expect(lied.ledger.consumedRaw(AGENT)).toBeGreaterThanOrEqual(0n);
      expect([lied.ledger.openHolds(), lied.ledger.conflicts]).toEqual([0, []]);
    }
  });

  it('turns of a client that leaves are charged once, and the upstream is closed', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect(FLUX);
    const peer = await upstream.peer();
    client.ws.send(sound(2));
    await client.until(({ audio_window_end }) => audio_window_end === 2);
    client.ws.terminate();
    await peer.closed;
    await settled(ledger);
    expect([ledger.consumedRaw(AGENT), ledger.charges.length]).toEqual([20n, 1]);
  });

  it('turns of a slow reader are read from the upstream no faster than it takes them, and none is lost', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect(FLUX);
    const peer = await upstream.peer();
    client.ws.pause();
    const padding = 'x'.repeat(64 * 1024);
    const update = { type: 'TurnInfo', event: 'Update', audio_window_end: 0, padding };
    let sent = 0;
    // What the two systems buffer is a few megabytes; an upstream that is not held back takes all of this.
    while (sent < 1_000 && peer.ws.bufferedAmount < 4 * 1024 * 1024) {
      peer.say({ ...update, sequence_id: sent++ });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(1_000);
    client.ws.resume();
    await expect.poll(() => client.events.length, { timeout: 10_000 }).toBe(sent);
    expect(client.events.map(({ sequence_id }) => sequence_id)).toEqual(
      Array.from({ length: sent }, (_, i) => i),
    );
    client.ws.send(CLOSE);
    await client.closed;
    await settled(ledger);
    expect(ledger.openHolds()).toBe(0);
  });
});

describe('an upgrade is refused in the words of the vendor', () => {
  it.each([
    ['a model of the other socket', `${TURNS}nova-3`, 400, 'Bad Request'],
    ['a model of turns on the other socket', `${LISTEN}flux-general-en`, 400, 'Bad Request'],
    ['no such model', `${TURNS}nothing`, 404, 'NOT_FOUND'],
    ['a threshold that is none', `${LOCAL}&eot_threshold=2`, 400, 'Bad Request'],
    ['an eager end after the end', `${LOCAL}&eager_eot_threshold=0.9`, 400, 'Bad Request'],
    ['no end in time', `${LOCAL}&eot_timeout_ms=1`, 400, 'Bad Request'],
    ['a coding that is not read', `/v2/listen?model=x&encoding=opus`, 400, 'Bad Request'],
    ['redaction', `${LOCAL}&redact=pci`, 400, 'Bad Request'],
    ['what is billed apart', `${FLUX}&mip_opt_out=true`, 400, 'Bad Request'],
  ])(
    '/v2/listen refuses an upgrade in the words of the vendor for %s',
    async (_, path, status, err_code) => {
      const { ledger, upstream, url } = await start();
      const answer = await refusal(url(path), [], bearer(KEYS.agent));
      expect(answer).toMatchObject({
        status,
        body: { err_code, err_msg: expect.any(String), request_id: expect.any(String) },
      });
      expect([upstream.asked.count, ledger.openHolds()]).toEqual([0, 0]);
    },
  );

  it('/v2/listen closes 1008 on a client that sends too many messages', async () => {
    const { connect } = await start();
    const client = await connect(LOCAL);
    for (let i = 0; i < 3 * VOICE_LIMITS.realtime.eventBurst; i++) {
      client.ws.send('{"type":"KeepAlive"}');
    }
    expect(await client.closed).toMatchObject({ code: 1008 });
  });
});
