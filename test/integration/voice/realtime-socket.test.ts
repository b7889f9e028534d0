import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents-realtime';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createRealtimeSocket } from '../../../src/protocols/openai-realtime/realtime-socket.ts';
import { bearer, type Edge, KEYS, startEdge } from '../../support/edge.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';
import { settled } from '../../support/settled.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';
import { AGENT, createVoiceWorld } from '../../support/voice-world.ts';
import { refusal } from '../../support/web-socket-client.ts';

const RATE = 24_000;

let edge: Edge | undefined;
afterEach(() => edge?.[Symbol.asyncDispose]());

async function start(creditRaw = 1_000_000n) {
  const world = await createVoiceWorld({ clock: systemClock, creditRaw });
  edge = await startEdge({ sockets: [createRealtimeSocket(world.deps)] });
  const url = (query = 'model=local/realtime') =>
    `ws://127.0.0.1:${edge?.port}/v1/realtime?${query}`;
  return {
    ...world,
    url,
    connect: async () => {
      const client = new RealtimeClient(url(), [], bearer(KEYS.agent));
      await client.opened();
      return client;
    },
  };
}

const append = (client: RealtimeClient, pcm: Int16Array) =>
  client.say({
    type: 'input_audio_buffer.append',
    audio: Buffer.from(bytesOf(pcm)).toString('base64'),
  });

describe('the realtime socket', () => {
  it('the realtime socket reports its session settings at the start, and the changed settings after an update', async () => {
    const { connect } = await start();
    const client = await connect();
    const created = await client.until(({ type }) => type === 'session.created');
    expect(created.session).toMatchObject({
      type: 'realtime',
      object: 'realtime.session',
      model: 'local/realtime',
      output_modalities: ['audio'],
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          turn_detection: { type: 'server_vad', silence_duration_ms: 500, create_response: true },
        },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'rms' },
      },
    });
    client.say({
      type: 'session.update',
      session: {
        input_audio_format: 'g711_ulaw',
        output_audio_format: 'g711_alaw',
        voice: 'alloy',
      },
    });
    const updated = await client.until(({ type }) => type === 'session.updated');
    expect(updated.session).toMatchObject({
      audio: {
        input: { format: { type: 'audio/pcmu' } },
        output: { format: { type: 'audio/pcma' }, voice: 'alloy' },
      },
    });
  });

  it('the realtime socket transcribes, answers, and charges one row for the sum of its turns', async () => {
    const { connect, engines, ledger } = await start();
    engines.stt.pocketsphinx.script.push('what is my balance');
    const client = await connect();
    append(client, tone(1_000, RATE));
    append(client, silence(1_000, RATE));
    const done = await client.until(({ type }) => type === 'response.done');
    expect(done.response).toMatchObject({
      status: 'completed',
      usage: {
        input_token_details: { text_tokens: 4 },
        output_token_details: { audio_tokens: expect.any(Number) },
      },
      metadata: { reply_ms: expect.any(String), first_audio_ms: expect.any(String) },
    });
    expect(engines.guide.asked[0]?.facts).toMatchObject({ agentName: 'tester' });
    client.ws.close();
    await client.closed;
    await settled(ledger);
    expect(ledger.charges).toHaveLength(1);
    expect(ledger.charges[0]).toMatchObject({
      targetUrl: 'gateway://local/realtime',
      costRaw: ledger.consumedRaw(AGENT),
    });
  });

  it('the realtime socket lets a vendor’s client hold a conversation', async () => {
    const { url, engines, ledger } = await start();
    const transport = new OpenAIRealtimeWebSocket({ url: url() });
    const agent = new RealtimeAgent({ name: 'helper', instructions: 'Be brief.' });
    const session = new RealtimeSession(agent, { transport, model: 'local/realtime' });
    const errors: unknown[] = [];
    session.on('error', (error) => errors.push(error));
    let audioBytes = 0;
    session.on('audio', ({ data }) => {
      audioBytes += data.byteLength;
    });
    const spoken = new Promise<void>((resolve) => session.on('agent_end', () => resolve()));

    await session.connect({ apiKey: KEYS.agent });
    session.sendMessage('what can you do');
    await spoken;
    expect(audioBytes).toBeGreaterThan(10_000);
    expect(session.usage.totalTokens).toBeGreaterThan(0);

    engines.stt.pocketsphinx.script.push('and what else');
    const again = new Promise<void>((resolve) => session.on('agent_end', () => resolve()));
    session.sendAudio(bytesOf(tone(1_000, RATE)).slice().buffer);
    session.sendAudio(bytesOf(silence(1_000, RATE)).slice().buffer);
    await again;
    const said = () => session.history.map((item) => JSON.stringify(item)).join('\n');
    await expect.poll(said).toContain('and what else');
    expect(said()).toContain('You said what can you do');
    expect(errors).toEqual([]);
    session.close();
    await settled(ledger);
  });

  it('the realtime socket takes its key as a bearer, in the query, and in both families of sub-protocols', async () => {
    const { url } = await start();
    const vendor = ['realtime', `openai-insecure-api-key.${KEYS.agent}`];
    for (const [query, protocols, agreed] of [
      [`model=local/realtime&api_key=${KEYS.agent}`, [], ''],
      ['model=local/realtime', ['svc-realtime', KEYS.agent], 'svc-realtime'],
      ['model=local/realtime', vendor, 'realtime'],
    ] as const) {
      const client = new RealtimeClient(url(query), [...protocols]);
      await client.until(({ type }) => type === 'session.created');
      expect(client.ws.protocol).toBe(agreed);
      client.ws.close();
      await client.closed;
    }
  });

  it.each([
    ['no key', 'model=local/realtime', 401],
    ['no model', 'x=1', 400],
    ['a model of another kind', 'model=local/guide', 400],
    ['an unknown model', 'model=local/nothing', 404],
  ])('the realtime socket refuses %s before the upgrade', async (why, query, status) => {
    const { url } = await start();
    const answer = await refusal(url(query), [], why === 'no key' ? {} : bearer(KEYS.agent));
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ message: expect.any(String) });
  });

  it('the realtime socket refuses with 402 when no turn is covered, and with 503 when an engine is missing', async () => {
    const { url, engines, ledger } = await start(100n);
    const poor = await refusal(url(), [], bearer(KEYS.agent));
    expect([poor.status, ledger.openHolds()]).toEqual([402, 0]);
    engines.gone.add('flite');
    expect((await refusal(url(), [], bearer(KEYS.agent))).status).toBe(503);
  });

  it('the realtime socket answers bad frames with an error event and stays open', async () => {
    const { connect } = await start();
    const client = await connect();
    client.ws.send('{"type":');
    client.ws.send(Buffer.from([0xff, 0xfe, 0x00]));
    client.say({ type: 'session.upgrade', event_id: 'e' });
    await client.until(() => client.of('error').length === 3);
    expect(client.of('error').map(({ error }) => (error as { type: string }).type)).toEqual(
      Array(3).fill('invalid_request_error'),
    );
    client.say({ type: 'session.update', session: {} });
    await client.until(({ type }) => type === 'session.updated');
  });

  it('the realtime socket disconnects a client with a 10 MB message, and settles', async () => {
    const { connect, ledger } = await start();
    const client = await connect();
    client.ws.send('x'.repeat(10_000_000));
    expect((await client.closed).code).toBe(1006);
    await settled(ledger);
  });

  it('the realtime socket charges what was bought when the client leaves in the middle of a response', async () => {
    const { connect, engines, ledger } = await start();
    engines.tts.flite.between = () => new Promise(() => {});
    const client = await connect();
    client.say({ type: 'response.create' });
    await client.until(({ type }) => type === 'response.output_audio.delta');
    client.ws.terminate();
    await client.closed;
    await settled(ledger);
    expect(ledger.charges[0]?.usage).toMatchObject({
      character: engines.tts.flite.spoken.join('').length,
    });
  });
});
