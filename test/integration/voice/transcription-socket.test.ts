import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { priceRaw } from '../../../src/kernel/price.ts';
import { createTranscriptionSocket } from '../../../src/protocols/transcript-events/transcript-socket.ts';
import { bearer, type Edge, KEYS, startEdge } from '../../support/edge.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';
import { settled } from '../../support/settled.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';
import { AGENT, createVoiceWorld } from '../../support/voice-world.ts';
import { refusal } from '../../support/web-socket-client.ts';

const PATH = '/v1/audio/transcriptions/stream';
const SLICE_RAW = 105n;

let edge: Edge | undefined;
afterEach(() => edge?.[Symbol.asyncDispose]());

async function start(creditRaw = 1_000_000n) {
  const world = await createVoiceWorld({ clock: systemClock, creditRaw });
  edge = await startEdge({ sockets: [createTranscriptionSocket(world.deps)] });
  const url = (query = 'model=local/pocketsphinx') =>
    `ws://127.0.0.1:${edge?.port}${PATH}?${query}`;
  return {
    ...world,
    url,
    connect: async (query?: string, headers = bearer(KEYS.agent)) => {
      const client = new RealtimeClient(url(query), [], headers);
      await client.opened();
      return client;
    },
  };
}

const audioPrice = (seconds: number) =>
  priceRaw({ audio_second: seconds }, { audio_second: 10_000_000n }, 500);

describe('the transcription socket', () => {
  it('the transcription socket turns audio into transcript events and closes 1000 on close_stream', async () => {
    const { connect, ledger } = await start();
    const client = await connect();
    client.ws.send(bytesOf(tone(2_000, 16_000)));
    client.ws.send(bytesOf(silence(1_000, 16_000)));
    const final = await client.until((event) => event.speech_final === true);
    expect(final).toMatchObject({ type: 'transcript', is_final: true });
    expect(client.events.some((event) => event.is_final === false)).toBe(true);
    client.say({ type: 'close_stream' });
    expect(await client.closed).toEqual({ code: 1000, reason: 'done' });
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(audioPrice(3));
    expect(ledger.charges[0]).toMatchObject({
      targetUrl: 'gateway://local/pocketsphinx',
      usage: { audio_second: 3 },
      keyId: 70,
    });
  });

  it.each([
    ['mulaw', 8_000, 8_000],
    ['alaw', 8_000, 8_000],
    ['linear16', 48_000, 96_000],
    ['linear16', 11_025, 22_050],
  ])(
    'the transcription socket charges %s at %i Hz by the bytes per second of that format',
    async (encoding, rate, bytesPerSecond) => {
      const { connect, ledger } = await start();
      const client = await connect(
        `model=local/pocketsphinx&encoding=${encoding}&sample_rate=${rate}`,
      );
      client.ws.send(new Uint8Array(bytesPerSecond * 7));
      client.say({ type: 'CloseStream' });
      await client.closed;
      await settled(ledger);
      expect(ledger.consumedRaw(AGENT)).toBe(audioPrice(7));
    },
  );

  it('the transcription socket transcribes odd-sized pieces like whole samples', async () => {
    const { connect, engines, ledger } = await start();
    const client = await connect();
    const bytes = bytesOf(tone(2_000, 16_000));
    for (let at = 0; at < bytes.length; at += 1_001) client.ws.send(bytes.subarray(at, at + 1_001));
    client.say({ type: 'close_stream' });
    await client.closed;
    await settled(ledger);
    expect(engines.stt.pocketsphinx.heardSamples).toBeGreaterThan(31_000);
    expect(ledger.consumedRaw(AGENT)).toBe(audioPrice(2));
  });

  it('the transcription socket ends at the last slice that the balance covered, and charges its whole hold', async () => {
    // Two slices, and a last one of the four seconds that the rest is enough for.
    const { connect, ledger } = await start(2n * SLICE_RAW + 50n);
    const client = await connect();
    client.ws.send(bytesOf(tone(30_000, 16_000)));
    expect(await client.closed).toEqual({ code: 1008, reason: 'insufficient_balance' });
    expect(client.events.at(-1)).toMatchObject({ type: 'error', code: 'insufficient_balance' });
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(audioPrice(24));
  });

  it('the transcription socket settles the audio heard when the client vanishes in the middle of a word', async () => {
    const { connect, engines, ledger } = await start();
    const client = await connect();
    client.ws.send(bytesOf(tone(1_500, 16_000)));
    await client.until((event) => event.type === 'transcript');
    client.ws.terminate();
    await client.closed;
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(audioPrice(1.5));
    expect(engines.stt.pocketsphinx.inUse).toBe(0);
  });

  it('the transcription socket ignores unknown text messages, and takes no audio after the finish', async () => {
    const { connect, ledger } = await start();
    const client = await connect();
    client.ws.send('hello');
    client.say({ type: 'KeepAlive' });
    client.ws.send(new Uint8Array(32_000));
    client.say({ type: 'close_stream' });
    client.say({ type: 'close_stream' });
    client.ws.send(new Uint8Array(32_000));
    expect((await client.closed).code).toBe(1000);
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(audioPrice(1));
  });

  it('the transcription socket closes at a message over one mebibyte, and settles', async () => {
    const { connect, ledger } = await start();
    const client = await connect();
    client.ws.send(new Uint8Array(1_100_000));
    expect((await client.closed).code).toBe(1009);
    await settled(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
  });

  it('the transcription socket takes its key among the sub-protocols, in either order, and never echoes it', async () => {
    const { url } = await start();
    for (const protocols of [
      ['svc-stt', KEYS.agent],
      [KEYS.agent, 'svc-stt'],
    ]) {
      const client = new RealtimeClient(url(), protocols);
      await client.opened();
      expect(client.ws.protocol).toBe('svc-stt');
      client.ws.close();
      await client.closed;
    }
  });

  it.each([
    ['a sample rate out of bounds', 'model=local/pocketsphinx&sample_rate=4000', 400],
    ['an invalid sample rate', 'model=local/pocketsphinx&sample_rate=loud', 400],
    ['an unknown encoding', 'model=local/pocketsphinx&encoding=opus', 400],
    ['no model', 'encoding=linear16', 400],
    ['a model of another kind', 'model=local/flite', 400],
    ['an unknown model', 'model=local/nothing', 404],
    ['a key in the query', `model=local/pocketsphinx&api_key=${KEYS.agent}`, 401],
  ])('the transcription socket refuses %s before the upgrade', async (_, query, status) => {
    const { url, ledger } = await start();
    const headers = query.includes('api_key') ? {} : bearer(KEYS.agent);
    const answer = await refusal(url(query), [], headers);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ message: expect.any(String) });
    expect(ledger.openHolds()).toBe(0);
  });

  it('the transcription socket refuses with 402 when not one second is covered, and holds nothing', async () => {
    const { url, engines, ledger } = await start(audioPrice(1) - 1n);
    const answer = await refusal(url(), [], bearer(KEYS.agent));
    expect(answer.status).toBe(402);
    expect(answer.body.error).toMatchObject({
      code: 'budget_exhausted',
      type: 'insufficient_quota',
    });
    expect([ledger.openHolds(), engines.stt.pocketsphinx.inUse]).toEqual([0, 0]);
  });

  it('the transcription socket refuses with 503 and Retry-After when every recogniser is in use', async () => {
    const { url, connect, engines } = await start();
    engines.stt.pocketsphinx.streams = 1;
    await connect();
    const answer = await refusal(url(), [], bearer(KEYS.agent));
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
  });

  it('the transcription socket refuses with 503 when its recogniser is not installed, and says so', async () => {
    const { url, engines } = await start();
    engines.gone.add('pocketsphinx');
    const answer = await refusal(url(), [], bearer(KEYS.agent));
    expect(answer.status).toBe(503);
    expect(answer.body.error).toMatchObject({
      code: 'no_source_available',
      message: expect.stringContaining('not installed'),
    });
  });

  it('the transcription socket passes a grammar to an engine that takes one', async () => {
    const { connect, engines } = await start();
    const grammar = '#JSGF V1.0; grammar g; public <g> = go;';
    await connect(`model=local/grammar&prompt=${encodeURIComponent(grammar)}`);
    expect(engines.stt.grammar.grammar).toBe(grammar);
  });

  it('the transcription socket, when the server drains, sends the words so far, then closes 1012, settled', async () => {
    const { deps, connect, ledger } = await start();
    const client = await connect();
    client.ws.send(bytesOf(tone(1_500, 16_000)));
    await client.until((event) => event.type === 'transcript');
    await deps.sessions.drain(5_000);
    expect((await client.closed).code).toBe(1012);
    expect(client.events.at(-1)).toMatchObject({ speech_final: true });
    expect(ledger.openHolds()).toBe(0);
    expect((await refusal(client.ws.url, [], bearer(KEYS.agent))).status).toBe(503);
  });
});
