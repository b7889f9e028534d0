import { afterEach, describe, expect, it } from 'vitest';
import { bearer, KEYS } from '../../support/edge.ts';
import {
  noHolds,
  type SpeakSocketWorld,
  startSpeakSockets,
} from '../../support/speak-socket-world.ts';
import { hangsAfter, noise, sends } from '../../support/speech-upstream.ts';
import { AGENT } from '../../support/voice-world.ts';
import { refusal } from '../../support/web-socket-client.ts';

const PATH = '/v2/speak?model=acme/voice';
const PCM = 'audio/pcm';

let world: SpeakSocketWorld | undefined;
afterEach(() => world?.[Symbol.asyncDispose]());

async function start() {
  world = await startSpeakSockets();
  return world;
}

describe('/v2/speak', () => {
  it('/v2/speak speaks a turn at a rate of its own, and reports the charge to the raw unit', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect(`${PATH}&sample_rate=44100`);
    client.say({ type: 'Speak', text: 'One two. Three' });
    client.say({ type: 'Flush' });
    const done = await client.until(({ type }) => type === 'SpeechMetadata');
    // Two answers of a second each, of two bytes a sample.
    expect(Math.abs(client.sound.bytes - 176_400)).toBeLessThan(10);
    expect(done).toMatchObject({
      audio_duration_ms: 2_000,
      input_character_count: 14,
      billable_character_count: 13,
      cost_usdc: '130',
    });
    expect(upstream.seen.map(({ body }) => [body.input, body.response_format])).toEqual([
      ['One two.', 'pcm'],
      ['Three', 'pcm'],
    ]);
    expect(ledger.consumedRaw(AGENT)).toBe(130n);
    client.say({ type: 'Close' });
    expect((await client.closed).code).toBe(1000);
    expect(client.events.at(-1)).toMatchObject({ type: 'SessionMetadata', cost_usdc: '130' });
    await noHolds(ledger);
  });

  it('/v2/speak charges an interrupted turn for the sentence in progress and none behind it', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.plays.push(sends(noise(9_600), PCM), (response) => {
      response.writeHead(200, { 'content-type': PCM });
      response.write(noise(9_600));
    });
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One. Two. Three. Four. ' });
    await expect.poll(() => client.sound.bytes).toBeGreaterThan(9_600);
    client.say({ type: 'Interrupt', playback_offset: { type: 'time_ms', value: 200 } });
    const interrupted = await client.until(({ type }) => type === 'SpeechInterrupted');
    expect(interrupted).toMatchObject({
      audio_played_ms: 200,
      text_spoken: 'One.',
      text_remaining: ' Two. Three. Four. ',
      metadata: { billable_character_count: 8, cost_usdc: '80' },
    });
    const soFar = client.sound.bytes;
    await expect.poll(() => upstream.abandoned.count).toBe(1);
    await noHolds(ledger);
    expect([upstream.seen.length, client.sound.bytes]).toEqual([2, soFar]);
    expect(ledger.consumedRaw(AGENT)).toBe(80n);
  });

  it('/v2/speak charges nothing for a sentence that is interrupted before its first byte', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.plays.push(sends(noise(9_600), PCM), hangsAfter(Buffer.alloc(0)));
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One. Two. Three. ' });
    await expect.poll(() => upstream.seen.length).toBe(2);
    client.say({ type: 'Interrupt' });
    expect(await client.until(({ type }) => type === 'SpeechInterrupted')).toMatchObject({
      metadata: { billable_character_count: 4, cost_usdc: '40' },
    });
    await noHolds(ledger);
    expect([upstream.seen.length, ledger.consumedRaw(AGENT)]).toEqual([2, 40n]);
  });

  it('/v2/speak sends the speed of the query and of the last change with each purchase', async () => {
    const { connect, upstream } = await start();
    const client = await connect(`${PATH}&speed=1.1`);
    client.say({ type: 'Speak', text: 'One. ' });
    await expect.poll(() => upstream.seen.length).toBe(1);
    client.say({ type: 'Configure', speed: 2 });
    client.say({ type: 'Configure', speed: 0.9 });
    client.say({ type: 'Speak', text: 'Two. ' });
    await expect.poll(() => upstream.seen.length).toBe(2);
    expect(upstream.seen.map(({ body }) => body.speed)).toEqual([1.1, 0.9]);
    expect(client.of('ConfigureFailure')).toMatchObject([
      { code: 'SPEED_OUT_OF_RANGE', field: 'speed', value: 2 },
    ]);
    expect(client.of('ConfigureSuccess')).toMatchObject([{ applied: { speed: 0.9 } }]);
  });

  it.each([
    ['no model', '', 'model'],
    ['a speed off its steps', 'model=acme/voice&speed=1.01', 'SPEED_INCREMENT_INVALID'],
    ['a speed out of its range', 'model=acme/voice&speed=0.45', 'SPEED_OUT_OF_RANGE'],
    ['a fraction', 'model=acme/voice&expressivity=0.5', 'EXPRESSIVITY_INCREMENT_INVALID'],
    ['no such expression', 'model=acme/voice&expressivity=3', 'EXPRESSIVITY_OUT_OF_RANGE'],
    ['one that no voice has', 'model=acme/voice&expressivity=-1', 'EXPRESSIVITY_NOT_SUPPORTED'],
    ['what is billed apart', 'model=acme/voice&mip_opt_out=true', 'mip_opt_out'],
  ])('/v2/speak refuses %s before the upgrade', async (_, query, word) => {
    const { ledger, upstream, url } = await start();
    const answer = await refusal(url(`/v2/speak?${query}`), [], bearer(KEYS.agent));
    expect(answer).toMatchObject({
      status: 400,
      body: { err_code: 'Bad Request', request_id: expect.any(String) },
    });
    expect(JSON.stringify(answer.body)).toContain(word);
    expect([upstream.seen.length, ledger.openHolds()]).toEqual([0, 0]);
  });

  it('/v2/speak closes on a message that is too long, and on a binary message', async () => {
    const { connect, ledger } = await start();
    const long = await connect(PATH);
    long.ws.send(JSON.stringify({ type: 'Speak', text: 'x'.repeat(20_000) }));
    expect(await long.closed).toEqual({ code: 1009, reason: 'BIG-0000' });
    const binary = await connect(PATH);
    binary.ws.send(Buffer.alloc(10));
    expect(await binary.closed).toEqual({ code: 1008, reason: 'MESSAGE-0000' });
    expect(binary.of('Error')).toMatchObject([{ code: 'MESSAGE-0000' }]);
    await noHolds(ledger);
  });
});
