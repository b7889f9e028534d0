import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createListenSocket } from '../../../src/protocols/deepgram/listen/listen-socket.ts';
import { bearer, type Edge, KEYS, startEdge } from '../../support/edge.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';
import { settled } from '../../support/settled.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';
import { AGENT, createVoiceWorld } from '../../support/voice-world.ts';
import { refusal } from '../../support/web-socket-client.ts';

const RATE = 16_000;
const LOCAL = 'model=local/pocketsphinx';
const FULL = `${LOCAL}&encoding=linear16&sample_rate=${RATE}&interim_results=true&vad_events=true&utterance_end_ms=1000`;
const token = (key: string) => ({ authorization: `Token ${key}` });

let edge: Edge | undefined;
afterEach(() => edge?.[Symbol.asyncDispose]());

async function start(creditRaw = 1_000_000n) {
  const world = await createVoiceWorld({ clock: systemClock, creditRaw });
  edge = await startEdge({ sockets: [createListenSocket(world.deps)] });
  const url = (query: string) => `ws://127.0.0.1:${edge?.port}/v1/listen?${query}`;
  return {
    ...world,
    url,
    connect: async (query = FULL) => {
      const client = new RealtimeClient(url(query), [], token(KEYS.agent));
      await client.opened();
      return client;
    },
  };
}

describe('the listen socket', () => {
  it('the listen socket sends one utterance in the order of its protocol, and its cost at the end', async () => {
    const { connect, ledger } = await start();
    const client = await connect();
    client.ws.send(bytesOf(tone(2_000, RATE)));
    client.ws.send(bytesOf(silence(2_000, RATE)));
    await client.until(({ type }) => type === 'UtteranceEnd');
    client.say({ type: 'CloseStream' });
    expect(await client.closed).toEqual({ code: 1000, reason: 'done' });
    const types = client.types().filter((type, i, all) => type !== all[i - 1]);
    expect(types).toEqual(['SpeechStarted', 'Results', 'UtteranceEnd', 'Metadata']);
    const finals = client.of('Results').filter((event) => event.is_final === true);
    expect(finals).toMatchObject([{ speech_final: true, from_finalize: false }]);
    await settled(ledger);
    expect(client.of('Metadata')).toMatchObject([{ duration: 4 }]);
    expect(ledger.charges).toMatchObject([{ agentId: AGENT, usage: { audio_second: 4 } }]);
  });

  it('the listen socket sends UtteranceEnd after the last words, however long those wait for silence', async () => {
    const { connect } = await start();
    const client = await connect(`${FULL}&endpointing=3000`);
    client.ws.send(bytesOf(tone(1_500, RATE)));
    client.ws.send(bytesOf(silence(2_500, RATE)));
    client.say({ type: 'NoSuchWord' });
    // It is answered behind all that was heard before it.
    await client.until(({ type }) => type === 'Error');
    expect(client.of('UtteranceEnd')).toEqual([]);
    client.ws.send(bytesOf(silence(1_000, RATE)));
    await client.until(({ type }) => type === 'UtteranceEnd');
    const [last, end] = client.events.slice(-2);
    expect(last).toMatchObject({ type: 'Results', is_final: true, speech_final: true });
    expect(end).toMatchObject({ type: 'UtteranceEnd', last_word_end: expect.closeTo(1.5, 0) });
    client.ws.close();
    await client.closed;
  });

  it.each([
    ['at once', 0],
    ['late', 50],
  ])(
    'the listen socket answers each Finalize once, with or without words, when the words come %s',
    async (_, ms) => {
      const { connect, engines } = await start();
      engines.stt.pocketsphinx.decoding = () => delay(ms);
      const client = await connect();
      client.ws.send(bytesOf(tone(1_500, RATE)));
      await client.until(({ is_final }) => is_final === false);
      client.say({ type: 'Finalize' });
      client.say({ type: 'Finalize', channel: 0 });
      client.say({ type: 'CloseStream' });
      await client.closed;
      const finalized = client.of('Results').filter((event) => event.from_finalize === true);
      expect(finalized).toMatchObject([
        {
          channel: { alternatives: [{ transcript: expect.stringMatching(/^w1/), confidence: 1 }] },
        },
        { channel: { alternatives: [{ transcript: '', words: [] }] } },
      ]);
    },
  );

  it.each(['hello', '[]', '{"type":"Configure"}', '{"type":"Finalize","channel":1}', '{}'])(
    'the listen socket rejects %s, and goes on',
    async (text) => {
      const { connect } = await start();
      const client = await connect();
      client.ws.send(text);
      await client.until(({ type }) => type === 'Error');
      client.ws.send(bytesOf(silence(1_000, RATE)));
      client.say({ type: 'CloseStream' });
      expect((await client.closed).code).toBe(1000);
      expect(client.of('Metadata')).toMatchObject([{ duration: 1 }]);
    },
  );

  it('the listen socket disconnects a client that floods it with messages, and settles', async () => {
    const { connect, ledger } = await start();
    const client = await connect();
    for (let i = 0; i < 4_000; i++) client.say({ type: 'KeepAlive' });
    expect(await client.closed).toMatchObject({ code: 1008, reason: 'rate_limit_exceeded' });
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
  });

  it('the listen socket sends the seconds heard before the error that the balance is used up', async () => {
    const { connect, ledger } = await start(250n);
    const client = await connect();
    client.ws.send(bytesOf(tone(30_000, RATE)));
    expect(await client.closed).toEqual({ code: 1008, reason: 'insufficient_balance' });
    expect(client.events.slice(-2)).toMatchObject([
      { type: 'Metadata', duration: 23 },
      { type: 'Error', variant: 'insufficient_balance' },
    ]);
    await settled(ledger);
    expect(ledger.charges).toMatchObject([{ usage: { audio_second: 23 } }]);
  });

  it('the listen socket rejects a recording in place of raw audio, unless its encoding was named', async () => {
    const { connect, ledger } = await start();
    const wav = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(32_000)]);
    const client = await connect(LOCAL);
    client.ws.send(wav);
    const { code, reason } = await client.closed;
    expect([code, reason]).toEqual([1008, expect.stringMatching(/^DATA-0000/)]);
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
    const named = await connect();
    named.ws.send(wav);
    named.say({ type: 'CloseStream' });
    expect((await named.closed).code).toBe(1000);
  });

  it('the listen socket names its stream by one UUID, in the response to the upgrade and in its messages', async () => {
    const { url } = await start();
    const client = new RealtimeClient(url(FULL), [], token(KEYS.agent));
    const answered = new Promise<unknown>((resolve) =>
      client.ws.once('upgrade', ({ headers }) => resolve(headers['dg-request-id'])),
    );
    const opened = client.opened();
    const id = await answered;
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    await opened;
    client.say({ type: 'CloseStream' });
    await client.closed;
    expect(client.of('Metadata')).toMatchObject([{ request_id: id }]);
  });

  it('the listen socket takes a browser’s key beside the subprotocol token, and answers with that subprotocol alone', async () => {
    const { url } = await start();
    const client = new RealtimeClient(url(FULL), ['token', KEYS.agent]);
    await client.opened();
    expect(client.ws.protocol).toBe('token');
    client.ws.close();
    await client.closed;
    expect((await refusal(url(FULL), ['token', 'svc_wrong'], {})).status).toBe(401);
  });

  it.each([
    ['no model', `encoding=linear16`, 400],
    ['an unknown encoding', `${LOCAL}&encoding=opus`, 400],
    ['two channels', `${LOCAL}&channels=2`, 400],
    ['separate channels', `${LOCAL}&multichannel=true`, 400],
    ['redaction, which it cannot do', `${LOCAL}&redact=pci`, 400],
    ['results at another address', `${LOCAL}&callback=https://example.com`, 400],
    ['utterance ends without interim results', `${LOCAL}&utterance_end_ms=1000`, 400],
    ['utterance ends after no time', `${LOCAL}&utterance_end_ms=10&interim_results=true`, 400],
    ['an unsupported language', `${LOCAL}&language=de`, 400],
    ['a model of another kind', 'model=local/flite', 400],
    ['a model that is not sold here', 'model=nova-3', 404],
    ['a key in the query', `${LOCAL}&token=${KEYS.agent}`, 401],
  ])(
    'the listen socket refuses %s before the upgrade, holding nothing',
    async (_, query, status) => {
      const { url, engines, ledger } = await start();
      const headers = query.includes('token=') ? {} : token(KEYS.agent);
      const answer = await refusal(url(query), [], headers);
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({
        err_msg: expect.any(String),
        err_code: expect.any(String),
      });
      expect([ledger.openHolds(), engines.stt.pocketsphinx.inUse]).toEqual([0, 0]);
    },
  );

  it.each([
    `${FULL}&smart_format=true&punctuate=true&tag=a&tag=b&extra=a:b&keyterm=w1&endpointing=false`,
    `${LOCAL}&language=en-US&channels=1&multichannel=false&redact=false&mip_opt_out=true`,
    `${LOCAL}&language=multi&endpointing=10`,
  ])('the listen socket accepts the parameters %s', async (query) => {
    const { connect } = await start();
    const client = await connect(query);
    client.say({ type: 'CloseStream' });
    expect((await client.closed).code).toBe(1000);
  });

  it('the listen socket, when the server drains, sends the words so far, then Metadata, then closes 1012', async () => {
    const { deps, connect, ledger } = await start();
    const client = await connect();
    client.ws.send(bytesOf(tone(1_500, RATE)));
    await client.until(({ is_final }) => is_final === false);
    await deps.sessions.drain(5_000);
    expect((await client.closed).code).toBe(1012);
    expect(client.events.slice(-2)).toMatchObject([
      { type: 'Results', is_final: true },
      { type: 'Metadata', duration: 1.5 },
    ]);
    expect(ledger.openHolds()).toBe(0);
    expect((await refusal(client.ws.url, [], bearer(KEYS.agent))).status).toBe(503);
  });
});
