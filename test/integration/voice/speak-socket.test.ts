import { afterEach, describe, expect, it } from 'vitest';
import { bearer, KEYS } from '../../support/edge.ts';
import {
  noHolds,
  PCM,
  type SpeakSocketClient,
  type SpeakSocketWorld,
  startSpeakSockets,
} from '../../support/speak-socket-world.ts';
import {
  answers,
  breaksAfter,
  hangsAfter,
  noise,
  type SpeechUpstream,
  sends,
} from '../../support/speech-upstream.ts';
import { AGENT } from '../../support/voice-world.ts';
import { refusal } from '../../support/web-socket-client.ts';

let world: SpeakSocketWorld | undefined;
afterEach(() => world?.[Symbol.asyncDispose]());

async function start(...wishes: Parameters<typeof startSpeakSockets>) {
  world = await startSpeakSockets(...wishes);
  return world;
}

async function expectTwoSpoken(
  upstream: SpeechUpstream,
  client: SpeakSocketClient,
  [stop, stopped]: readonly string[],
) {
  client.say({ type: 'Speak', text: 'One. Two. Three. Four. ' });
  await expect.poll(() => upstream.seen.length).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect([upstream.seen.length, client.of('Error')]).toEqual([2, []]);
  client.say({ type: stop });
  await client.until(({ type }) => type === stopped);
}

describe('/v1/speak', () => {
  it('/v1/speak speaks at the requested sample rate, and charges each sentence before it is heard', async () => {
    const { connect, ledger, upstream } = await start();
    const client = await connect('/v1/speak?model=acme/voice&sample_rate=8000&encoding=mulaw');
    await client.until(({ type }) => type === 'Metadata');
    client.say({ type: 'Speak', text: 'One two. Three' });
    client.say({ type: 'Flush' });
    await client.until(({ type }) => type === 'Flushed');
    // Two answers of a second each.
    expect(Math.abs(client.sound.bytes - 16_000)).toBeLessThan(10);
    expect(upstream.seen.map(({ body }) => [body.input, body.response_format])).toEqual([
      ['One two.', 'pcm'],
      ['Three', 'pcm'],
    ]);
    expect(client.of('Flushed')).toMatchObject([{ characters: 13, cost_usdc: '130' }]);
    expect(ledger.consumedRaw(AGENT)).toBe(130n);
    client.say({ type: 'Close' });
    expect((await client.closed).code).toBe(1000);
    await noHolds(ledger);
  });
});

describe.each([
  ['/v1/speak', ['Clear', 'Cleared']],
  ['/v2/speak', ['Interrupt', 'SpeechInterrupted']],
])('%s', (path, stop) => {
  const PATH = `${path}?model=acme/voice`;

  it('a speech socket counts each sentence at the rate limit like the upgrade, and delays those beyond it', async () => {
    const { connect, upstream } = await start(100_000n, { gatewayPerMinute: 3 });
    await expectTwoSpoken(upstream, await connect(PATH), stop);
  });

  it('a speech socket counts sentences on a provider key of the caller at the limit of such keys', async () => {
    const { connect, upstream } = await start(100_000n, { gatewayPerMinute: 1, byokPerMinute: 3 });
    const client = await connect(PATH, { 'x-svc-provider-key': 'sk-own' });
    await expectTwoSpoken(upstream, client, stop);
  });

  it('a speech socket closes where its upstream breaks off, and charges only the sentences with audio', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.plays.push(sends(noise(4_800), PCM), (response) => {
      response.writeHead(200, { 'content-type': PCM });
      response.write(noise(4_800));
      setTimeout(() => response.destroy(), 30);
    });
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One. Two. Three. ' });
    expect(await client.closed).toMatchObject({ code: 1011, reason: 'upstream_broke_off' });
    await noHolds(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(80n);
    expect(client.of('Error')).toHaveLength(1);
  });

  it('a speech socket charges a sentence that is cut after its first byte whole, and one without a byte not at all', async () => {
    for (const bytes of [0, 1, 2, 3, 4, 4_799, 4_800, 9_601]) {
      const { connect, ledger, upstream } = await start();
      upstream.plays.push(...[1, 2, 3].map(() => breaksAfter(noise(bytes))));
      const client = await connect(PATH);
      client.say({ type: 'Speak', text: 'One. Two.' });
      expect((await client.closed).code).toBe(1011);
      await noHolds(ledger);
      expect(client.sound.bytes).toBeLessThanOrEqual(bytes);
      expect([bytes, ledger.consumedRaw(AGENT)]).toEqual([bytes, bytes === 0 ? 0n : 40n]);
      await world?.[Symbol.asyncDispose]();
    }
  });

  it('a speech socket charges nothing for a sentence without any audio', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.plays.push(answers(500), answers(500), answers(500));
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One. Two.' });
    expect((await client.closed).code).toBe(1011);
    await noHolds(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
  });

  it('a speech socket aborts its upstream when its client leaves, and buys nothing more', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.plays.push((response) => {
      response.writeHead(200, { 'content-type': PCM });
      response.write(noise(9_600));
    });
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One. Two. Three. ' });
    await expect.poll(() => client.sound.bytes).toBeGreaterThan(0);
    client.ws.terminate();
    await expect.poll(() => upstream.abandoned.count).toBe(1);
    await noHolds(ledger);
    expect([upstream.seen.length, ledger.consumedRaw(AGENT)]).toEqual([1, 40n]);
  });

  it('a speech socket charges nothing to a client that leaves before any audio', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.plays.push(hangsAfter(Buffer.alloc(0)));
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One. Two. Three. ' });
    await expect.poll(() => upstream.seen.length).toBe(1);
    client.ws.terminate();
    await expect.poll(() => upstream.abandoned.count).toBe(1);
    await noHolds(ledger);
    expect([upstream.seen.length, ledger.consumedRaw(AGENT)]).toEqual([1, 0n]);
  });

  it('a speech socket buys no more sentences than a slow reader takes', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.sound = noise(8 * 1024 * 1024);
    const client = await connect(PATH);
    client.ws.pause();
    const sentences = 40;
    client.say({ type: 'Speak', text: 'One two three. '.repeat(sentences) });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const asked = upstream.seen.length;
    expect(asked).toBeLessThan(sentences / 4);
    client.ws.terminate();
    await noHolds(ledger);
    expect(upstream.seen.length).toBe(asked);
    expect(ledger.consumedRaw(AGENT)).toBe(BigInt(asked) * 140n);
  });

  it('a speech socket stops at the sentence that the balance does not cover', async () => {
    const { connect, ledger } = await start(100n);
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One two. Three four. ' });
    expect(await client.closed).toEqual({ code: 1008, reason: 'budget_exhausted' });
    expect(client.of('Error')).toMatchObject([{ code: 'budget_exhausted' }]);
    await noHolds(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(80n);
  });

  it('a speech socket passes a refusal of the upstream on, in one shape', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.plays.push(answers(400, { error: { message: 'not that voice' } }));
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One. ' });
    expect((await client.closed).code).toBe(1008);
    expect(client.of('Error')).toMatchObject([
      { code: 'upstream_refused', description: 'not that voice' },
    ]);
    await noHolds(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
  });

  it('a speech socket closes 1011 and charges nothing when every upstream breaks off before its first byte', async () => {
    const { connect, ledger, upstream } = await start();
    upstream.plays.push(breaksAfter(Buffer.alloc(0)), breaksAfter(Buffer.alloc(0)));
    const client = await connect(PATH);
    client.say({ type: 'Speak', text: 'One. ' });
    expect((await client.closed).code).toBe(1011);
    await noHolds(ledger);
    expect(ledger.consumedRaw(AGENT)).toBe(0n);
  });

  it.each([
    ['no such model', 'model=acme/none', 404, 'NOT_FOUND'],
    ['a model that hears', 'model=local/pocketsphinx', 400, 'Bad Request'],
    ['a file', 'model=acme/voice&encoding=mp3', 400, 'Bad Request'],
    ['a container', 'model=acme/voice&container=wav', 400, 'Bad Request'],
    ['a rate that there is not', 'model=acme/voice&sample_rate=11025', 400, 'Bad Request'],
    ['a speed beyond any', 'model=acme/voice&speed=100', 400, 'Bad Request'],
  ])('a speech socket refuses %s before the upgrade', async (_, query, status, err_code) => {
    const { ledger, upstream, url } = await start();
    const answer = await refusal(url(`${path}?${query}`), [], bearer(KEYS.agent));
    expect(answer).toMatchObject({
      status,
      body: { err_code, err_msg: expect.any(String), request_id: expect.any(String) },
    });
    expect([upstream.seen.length, ledger.openHolds()]).toEqual([0, 0]);
  });

  it('a speech socket closes on a client that sends too many messages', async () => {
    const { connect, ledger } = await start();
    const client = await connect(PATH);
    for (let i = 0; i < 10_000; i++) client.ws.send('{"type":"Speak","text":""}');
    expect((await client.closed).code).toBe(1008);
    await noHolds(ledger);
  });
});
