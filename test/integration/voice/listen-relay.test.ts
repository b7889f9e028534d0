import { afterEach, describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { bearer, KEYS } from '../../support/edge.ts';
import { resultOf, wordsUpTo } from '../../support/listen-upstream.ts';
import { LISTEN, type ListenWorld, listenWorld, RATE, STREAM } from '../../support/listen-world.ts';
import type { UpstreamPeer } from '../../support/realtime-upstream.ts';
import { settled } from '../../support/settled.ts';
import { bytesOf, tone } from '../../support/voice-fakes.ts';
import { AGENT } from '../../support/voice-world.ts';
import { refusal, TestSocket } from '../../support/web-socket-client.ts';

const sound = (seconds: number) => bytesOf(tone(seconds * 1_000, RATE));
const PATHS = [`${LISTEN}alone`, `${STREAM}deepgram/alone`];

/** What an upstream may do that has taken an upgrade and has heard nothing yet. */
const DEATHS: [string, (peer: UpstreamPeer) => void][] = [
  ['closes at once', (peer) => peer.ws.close(1011, 'out of order')],
  ['closes a little later', (peer) => void setTimeout(() => peer.ws.close(1000), 30)],
  ['breaks the connection', (peer) => peer.ws.terminate()],
  ['reports an error', (peer) => peer.say({ type: 'Error', description: 'no sk-server' })],
];

let world: ListenWorld;
afterEach(() => world[Symbol.asyncDispose]());

async function start(options: Parameters<typeof listenWorld>[0] = {}) {
  world = await listenWorld(options);
  return world;
}

describe('live transcription at an upstream, on /v1/listen', () => {
  it('/v1/listen requests the bare model name at its upstream, with the credential of this server as a Token', async () => {
    const { connect, upstream } = await start();
    const query = 'punctuate=true&utterance_end_ms=1000&tag=mine&customer_id=c&search=a&search=b';
    await connect(`${LISTEN}nova-3&language=de&${query}`);
    const { headers, path } = await upstream.peer();
    const url = new URL(path, upstream.baseUrl);
    expect([url.pathname, headers.authorization]).toEqual(['/v1/listen', 'Token sk-server']);
    expect(url.searchParams.getAll('search')).toEqual(['a', 'b']);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      model: 'nova-3',
      language: 'de',
      encoding: 'linear16',
      sample_rate: '16000',
      channels: '1',
      interim_results: 'true',
      punctuate: 'true',
      search: 'b',
      utterance_end_ms: '1000',
    });
    expect(JSON.stringify(headers)).not.toContain(KEYS.agent);
  });

  it('/v1/listen finds a model whose client adds the default suffix', async () => {
    const { connect, upstream } = await start();
    await connect(`${LISTEN}nova-3-general`);
    const { searchParams } = new URL((await upstream.peer()).path, upstream.baseUrl);
    expect(searchParams.get('model')).toBe('nova-3');
  });

  it('/v1/listen bills a multilingual stream as a model of its own, under the upstream’s one model name', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect(`${LISTEN}nova-3&language=multi`);
    const { searchParams } = new URL((await upstream.peer()).path, upstream.baseUrl);
    expect([searchParams.get('model'), searchParams.get('language')]).toEqual(['nova-3', 'multi']);
    client.ws.send(sound(2));
    client.say({ type: 'CloseStream' });
    await client.closed;
    await settled(ledger);
    expect(ledger.charges).toMatchObject([
      { model: 'deepgram/nova-3-multilingual', costRaw: 40n, usage: { audio_second: 2 } },
    ]);
  });

  it('/v1/listen passes every frame unchanged, both ways and in order', async () => {
    const { upstream, url } = await start({ storedKeys: { deepgram: 'dg-own' } });
    upstream.script.heard = () => {};
    const client = new TestSocket(url(`${LISTEN}nova-3`), [], bearer(KEYS.agent));
    await client.opened();
    const peer = await upstream.peer();
    const down = [
      '{ "type" : "Results",\n"start":1.0, "duration":1e0, "channel":{"alternatives":[]} }',
      '{"type":"Made.Up","n":12345678901234567890}',
      'no JSON at all',
      `{"type":"UtteranceEnd","x":"${'漢🙂'.repeat(1_000)}"}`,
    ];
    for (const text of down) peer.ws.send(text);
    peer.ws.send(Buffer.from([0, 255]));
    const pieces = [sound(0.1), sound(0.02), sound(0.5)];
    const words = ['{ "type": "KeepAlive" }', '{"type":"Finalize","channel":0}', '{"type":"Odd"}'];
    for (const [at, piece] of pieces.entries()) {
      client.ws.send(piece);
      client.ws.send(words[at] ?? '');
    }
    await peer.until('Odd');
    const up = peer.frames.map(({ bytes, isBinary }) => (isBinary ? bytes : `${bytes}`));
    expect(up).toEqual(pieces.flatMap((piece, at) => [Buffer.from(piece), words[at]]));
    await expect.poll(() => client.texts.length).toBe(down.length + 1);
    expect(client.texts.slice(0, down.length)).toEqual(down);
    expect(client.binaries).toEqual([Buffer.from([0, 255])]);
  });

  it('/v1/listen does not pass on options that its upstream would bill this server for', async () => {
    const { connect, upstream } = await start();
    const client = await connect(`${LISTEN}nova-3`);
    client.say({ type: 'Configure', keyterms: ['svc'] });
    client.say({ type: 'Finalize', keyterms: ['svc'] });
    client.say({ type: 'KeepAlive' });
    client.say({ type: 'CloseStream' });
    await client.closed;
    const { frames } = await upstream.peer();
    expect(frames.map(({ bytes }) => bytes.toString())).toEqual([
      '{"type":"Finalize"}',
      '{"type":"KeepAlive"}',
      '{"type":"CloseStream"}',
    ]);
    expect(client.of('Error')).toHaveLength(1);
  });

  it('/v1/listen relays Finalize, CloseStream and their responses, and closes as its upstream closes', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect(`${LISTEN}nova-3`);
    client.ws.send(sound(1.5));
    client.say({ type: 'Finalize' });
    await client.until(({ from_finalize }) => from_finalize === true);
    client.ws.send(sound(1));
    client.say({ type: 'CloseStream' });
    expect((await client.closed).code).toBe(1000);
    expect(client.events.slice(-2)).toMatchObject([
      { type: 'Results', is_final: true, duration: 2.5 },
      { type: 'Metadata', duration: 2.5, request_id: 'upstream' },
    ]);
    await settled(ledger);
    expect(ledger.charges).toMatchObject([
      { agentId: AGENT, model: 'deepgram/nova-3', costRaw: 25n, usage: { audio_second: 2.5 } },
    ]);
    expect((await upstream.peer()).frames.at(-1)?.bytes.toString()).toBe('{"type":"CloseStream"}');
  });

  it('/v1/listen on a provider key of the caller passes every requested option, for the fixed fee per stream', async () => {
    const { connect, ledger, upstream, usedKeys } = await start({
      storedKeys: { deepgram: 'dg-own' },
    });
    const asked = 'diarize=true&keyterm=one&keyterm=two&redact=pci&redact=ssn&tag=mine';
    const client = await connect(`${LISTEN}nova-3&${asked}`);
    const peer = await upstream.peer();
    expect([peer.headers.authorization, usedKeys]).toEqual(['Token dg-own', ['deepgram']]);
    expect(peer.path).toContain(`&${asked}&`);
    client.ws.send(sound(25));
    client.say({ type: 'CloseStream' });
    await client.closed;
    await settled(ledger);
    expect(ledger.charges).toMatchObject([
      { costRaw: MODEL_LIMITS.byokFeeRaw, rail: 'byok', usage: { audio_second: 25, request: 1 } },
    ]);
  });

  it("/v1/listen refuses, on this server's account, an option that the upstream bills extra, and names the option", async () => {
    const { ledger, upstream, url } = await start();
    for (const param of ['diarize', 'redact']) {
      const path = `${LISTEN}nova-3&${param}=true`;
      const answer = await refusal(url(path), [], bearer(KEYS.agent));
      expect(answer).toMatchObject({ status: 400, body: { param } });
    }
    expect([upstream.asked.count, ledger.openHolds()]).toEqual([0, 0]);
  });
});

describe('live transcription at an upstream, on /v1/audio/transcriptions/stream', () => {
  it('/v1/audio/transcriptions/stream relays results in its own messages, and silence only where it ends an utterance', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect(`${STREAM}deepgram/nova-3`);
    const peer = await upstream.peer();
    expect(Object.fromEntries(new URL(peer.path, upstream.baseUrl).searchParams)).toMatchObject({
      interim_results: 'true',
      encoding: 'linear16',
      sample_rate: '16000',
    });
    peer.say({ type: 'SpeechStarted', timestamp: 0 });
    peer.say(resultOf(0.4, { is_final: true }));
    peer.say(resultOf(0.4, { is_final: true, speech_final: true }));
    peer.ws.send(Buffer.from([1, 2]));
    client.ws.send(sound(1));
    client.say({ type: 'close_stream' });
    expect(await client.closed).toEqual({ code: 1000, reason: 'done' });
    const transcript = (text: string, is_final: boolean, speech_final: boolean) => ({
      type: 'transcript',
      text,
      is_final,
      speech_final,
    });
    expect(client.events).toEqual([
      transcript('', true, true),
      transcript('w1', false, false),
      transcript('w1 w2', false, false),
      transcript('w1 w2', true, true),
    ]);
    expect(client.binaries).toEqual([]);
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(10n);
  });

  it('/v1/audio/transcriptions/stream keeps the upstream alive while the client sends no audio', async () => {
    const { connect, upstream } = await start();
    const client = await connect(`${STREAM}deepgram/nova-3`);
    const peer = await upstream.peer();
    await peer.until('KeepAlive');
    client.ws.send(sound(1));
    await client.until(({ text }) => text === wordsUpTo(1));
  });

  it('/v1/audio/transcriptions/stream still serves the local models with the recognisers of this process', async () => {
    const { connect, upstream } = await start();
    const client = await connect(`${STREAM}local/pocketsphinx`);
    client.ws.send(sound(1));
    client.say({ type: 'close_stream' });
    expect((await client.closed).code).toBe(1000);
    expect([client.types().at(-1), upstream.asked.count]).toEqual(['transcript', 0]);
  });

  it('/v1/audio/transcriptions/stream refuses a model that is billed in tokens, which no upstream reports', async () => {
    const { upstream, url } = await start();
    const path = `${STREAM}deepgram/by-token`;
    expect((await refusal(url(path), [], bearer(KEYS.agent))).status).toBe(503);
    expect(upstream.asked.count).toBe(0);
  });
});

/** The word of a refusal, which stands at another place in each of the two envelopes. */
const codeOf = ({ body }: { readonly body: Record<string, unknown> }): unknown =>
  typeof body.error === 'string' ? body.error : (body.error as { code?: unknown }).code;

describe.each(PATHS)('an upstream that fails on %s', (path) => {
  it.each([
    ['5xx', 503, 502, 'all_sources_failed'],
    ['a connection that is cut', 0, 502, 'all_sources_failed'],
    ['silence', -1, 502, 'all_sources_failed'],
    ['a credential of this server that is refused', 401, 502, 'all_sources_failed'],
    ['an account of this server that is empty', 402, 502, 'all_sources_failed'],
    ['too many requests', 429, 429, 'upstream_rate_limited'],
    ['a query that it does not take', 400, 502, 'upstream_declined'],
  ])(
    'a live transcription turns %s of its upstream into a refusal of the upgrade, nothing charged',
    async (_, failure, status, code) => {
      const { ledger, upstream, url } = await start(failure === -1 ? { connectMs: 300 } : {});
      upstream.refusals.push(failure);
      const answer = await refusal(url(path), [], bearer(KEYS.agent));
      expect([answer.status, codeOf(answer)]).toEqual([status, code]);
      expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([0, 0n]);
    },
  );

  it.each([401, 402, 429, 500, 0])(
    'a live transcription tries the next source when an upstream answers %d',
    async (failure) => {
      const { connect, ledger, second, upstream } = await start();
      upstream.refusals.push(failure);
      const client = await connect(path.replace('alone', 'nova-3'));
      expect((await second.peer()).path).toMatch(/model=nova-3-hosted/);
      expect(ledger.openHolds()).toBe(1);
      client.ws.send(sound(1));
      client.ws.send('{"type":"CloseStream"}');
      await client.closed;
      await settled(ledger);
      expect(ledger.consumedRaw(AGENT)).toBe(11n);
    },
  );

  it.each(DEATHS)(
    'a live transcription tries the next source when an upstream takes the upgrade and %s, with nothing paid for it',
    async (_, die) => {
      const { connect, ledger, second, upstream } = await start({ patientOpenings: 1 });
      upstream.greet = die;
      const client = await connect(path.replace('alone', 'nova-3'));
      expect([upstream.asked.count, second.asked.count, ledger.openHolds()]).toEqual([1, 1, 1]);
      await (await upstream.peer()).closed;
      client.ws.send(sound(1));
      client.ws.send('{"type":"CloseStream"}');
      expect((await client.closed).code).toBe(1000);
      await settled(ledger);
      expect([ledger.consumedRaw(AGENT), ledger.charges.length]).toEqual([11n, 1]);
      expect(ledger.conflicts).toEqual([]);
    },
  );

  it.each(DEATHS)(
    'a live transcription is refused when every source takes the upgrade and %s, nothing charged',
    async (_, die) => {
      const { ledger, second, upstream, url } = await start({ patientOpenings: 2 });
      upstream.greet = die;
      second.greet = die;
      const wanted = url(path.replace('alone', 'nova-3'));
      const answer = await refusal(wanted, [], bearer(KEYS.agent));
      expect([answer.status, codeOf(answer)]).toEqual([502, 'all_sources_failed']);
      expect([upstream.asked.count, second.asked.count]).toEqual([1, 1]);
      expect([ledger.openHolds(), ledger.charges]).toEqual([0, []]);
    },
  );

  it('a live transcription makes no upstream request when the balance does not cover one second', async () => {
    const { ledger, upstream, url } = await start({ creditRaw: 9n });
    const answer = await refusal(url(path), [], bearer(KEYS.agent));
    expect([answer.status, codeOf(answer)]).toEqual([402, 'budget_exhausted']);
    expect([upstream.asked.count, ledger.openHolds()]).toEqual([0, 0]);
  });

  it('a live transcription reads its upstream no faster than its client takes the frames, and loses nothing', async () => {
    const { connect, upstream } = await start();
    const client = await connect(path);
    const peer = await upstream.peer();
    client.ws.pause();
    const chunk = 'a'.repeat(64 * 1024);
    let sent = 0;
    // What the two systems buffer is a few megabytes; an upstream that is not held back takes all of this.
    while (sent < 1_000 && peer.ws.bufferedAmount < 4 * 1024 * 1024) {
      const channel = { alternatives: [{ transcript: `${sent++} ${chunk}` }] };
      peer.say({ ...resultOf(0, {}), channel });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(1_000);
    client.ws.resume();
    await expect.poll(() => client.events.length, { timeout: 10_000 }).toBe(sent);
    expect(client.texts.every((text, at) => text.includes(`"${at} a`))).toBe(true);
  });

  it('a live transcription finishes the transcript when the server drains, then closes 1012', async () => {
    const { connect, ledger, sessions } = await start();
    const client = await connect(path);
    client.ws.send(sound(1));
    await client.until(() => client.texts.some((text) => text.includes(wordsUpTo(1))));
    await sessions.drain(5_000);
    expect((await client.closed).code).toBe(1012);
    expect(client.events.some(({ is_final }) => is_final === true)).toBe(true);
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([0, 10n]);
  });

  it('a live transcription whose ledger fails after the last audio delivers the paid words, and reports the unheard seconds', async () => {
    const { connect, ledger } = await start({
      change: () => ({ extend: () => Promise.reject(new Error('the ledger is away')) }),
    });
    const client = await connect(path);
    client.ws.send(sound(13.5));
    client.ws.send('{"type":"CloseStream"}');
    expect(await client.closed).toEqual({ code: 1011, reason: 'ledger_unavailable' });
    expect(client.texts.some((text) => text.includes(wordsUpTo(10)))).toBe(true);
    expect(client.events.at(-1)).toMatchObject({
      message: expect.stringContaining('The last 3.5 s that came were not heard'),
      unheard_seconds: 3.5,
    });
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(100n);
  });

  it('the upstream of a live transcription gets CloseStream when its client leaves, and is then closed', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect(path);
    const peer = await upstream.peer();
    client.ws.send(sound(1));
    await client.until(() => client.texts.some((text) => text.includes(wordsUpTo(1))));
    client.ws.terminate();
    await peer.until('CloseStream');
    await peer.closed;
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(10n);
  });
});
