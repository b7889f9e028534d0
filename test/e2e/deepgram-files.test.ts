import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../media/mulaw.ts';
import { uuidOf } from '../../src/kernel/ids.ts';
import { deepgramAt, refusedWith } from '../support/deepgram-rest-client.ts';
import { LIBRIVOX, loadRecording, wordCount, wordErrors } from '../support/speech.ts';
import { type MarketWorld, startMarketWorld } from '../support/vendors/market-world.ts';
import { settledMoney } from '../support/whole-world.ts';

const [RECORDING] = LIBRIVOX;
const FILE = readFileSync(new URL(`../vectors/speech/${RECORDING?.file ?? ''}`, import.meta.url));
const LOCAL = { model: 'local/pocketsphinx' };

let market: MarketWorld;
beforeAll(async () => {
  market = await startMarketWorld();
});
afterAll(() => market[Symbol.asyncDispose]());

async function open(name: string, amountRaw?: bigint) {
  const shopper = await market.shopper(name, amountRaw);
  const client = deepgramAt({ url: market.world.url, apiKey: shopper.key });
  return { client, shopper, media: client.listen.v1.media };
}

async function chargesOf(agentId: number) {
  const money = await settledMoney(market.world.sql, agentId);
  expect(money.spendable).toBe(money.credited - money.charged);
  return market.world.sql<{ cost: bigint; usage: Record<string, number> }[]>`
    select cost_raw as cost, usage from charges where agent_id = ${agentId}`;
}

type Best = {
  readonly transcript: string;
  readonly confidence: number;
  readonly words: { word: string; start: number; end: number; punctuated_word?: string }[];
};

const bestOf = (answer: unknown): Best =>
  (answer as { results: { channels: [{ alternatives: [Best] }] } }).results.channels[0]
    .alternatives[0];

describe("a file by Deepgram's own client", () => {
  it("a file from Deepgram's client is transcribed locally with word times, and charged by its seconds", async () => {
    const { media, shopper } = await open('file');
    const { data, rawResponse } = await media
      .transcribeFile(FILE, { ...LOCAL, utterances: true, punctuate: true, tag: 'mine' })
      .withRawResponse();
    const seconds = loadRecording(RECORDING?.file ?? '').length / 16_000;
    const uuid = uuidOf(LOCAL.model);
    expect(data).toMatchObject({
      metadata: {
        request_id: rawResponse.headers.get('dg-request-id'),
        sha256: createHash('sha256').update(FILE).digest('hex'),
        duration: seconds,
        channels: 1,
        models: [uuid],
        model_info: { [uuid]: { name: LOCAL.model, arch: 'pocketsphinx' } },
        tags: ['mine'],
        warnings: [{ parameter: 'punctuate', type: 'unsupported_model' }],
      },
    });
    const { confidence, transcript, words } = bestOf(data);
    const said = RECORDING?.text ?? '';
    expect(wordErrors(said, transcript) / wordCount(said)).toBeLessThan(0.5);
    expect(confidence).toBe(1);
    expect(words.map(({ word }) => word).join(' ')).toBe(transcript.toLowerCase());
    for (const { end, punctuated_word, start } of words) {
      expect(end).toBeGreaterThanOrEqual(start);
      expect(end).toBeLessThanOrEqual(seconds + 0.1);
      expect(punctuated_word).toBeDefined();
    }
    const { utterances } = (data as { results: { utterances: { words: unknown[] }[] } }).results;
    expect(utterances.flatMap(({ words: spoken }) => spoken)).toEqual(words);
    const [charge, ...more] = await chargesOf(shopper.agentId);
    expect(more).toEqual([]);
    expect(charge?.usage).toEqual({ audio_second: seconds });
    expect(rawResponse.headers.get('x-svc-cost-usdc')).toBe(String(charge?.cost));
  });

  it("a file from Deepgram's client may be raw samples with a declared encoding", async () => {
    const { media, shopper } = await open('raw');
    const pcm = loadRecording(RECORDING?.file ?? '');
    const coded = new Uint8Array(pcm.length);
    encodeMulaw(pcm, coded);
    const raw = { ...LOCAL, encoding: 'mulaw' as const };
    const answer = await media.transcribeFile(Buffer.from(coded), raw, {
      queryParams: { sample_rate: '16000' },
    });
    expect(bestOf(answer).transcript).not.toBe('');
    const [charge] = await chargesOf(shopper.agentId);
    expect(charge?.usage).toEqual({ audio_second: pcm.length / 16_000 });
    expect(await refusedWith(media.transcribeFile(Buffer.from(coded), raw))).toMatchObject({
      statusCode: 400,
      body: { err_code: 'Bad Request', err_msg: expect.stringContaining('sample_rate') },
    });
  });

  it("a file from Deepgram's client goes to the vendor with its options, and returns the vendor's words with our metadata", async () => {
    const { media, shopper } = await open('vendor');
    market.peer.heard.length = 0;
    const { data, rawResponse } = await media
      .transcribeFile(FILE, { model: 'nova-3', smart_format: true, language: 'en' })
      .withRawResponse();
    expect(market.peer.heard).toHaveLength(1);
    const [heard] = market.peer.heard;
    expect(heard?.headers.authorization).toBe('Token key-of-the-operator');
    expect(Object.fromEntries(heard?.url.searchParams ?? [])).toEqual({
      model: 'nova-3',
      smart_format: 'true',
      language: 'en',
      punctuate: 'true',
    });
    expect(heard?.body.equals(FILE)).toBe(true);
    expect(bestOf(data)).toMatchObject({ confidence: 0.9, words: [{ word: 'heard' }, {}] });
    // What the vendor says of the duration is a lie, and is not billed.
    const seconds = loadRecording(RECORDING?.file ?? '').length / 16_000;
    expect(data).toMatchObject({ metadata: { duration: seconds } });
    const [charge] = await chargesOf(shopper.agentId);
    expect(charge?.usage).toEqual({ audio_second: seconds });
    expect(rawResponse.headers.get('x-svc-model')).toBe('deepgram/nova-3');
  });

  it("a file from Deepgram's client has the multilingual price when it is transcribed in several languages", async () => {
    const { media, shopper } = await open('several');
    market.peer.heard.length = 0;
    const { rawResponse } = await media
      .transcribeFile(FILE, { model: 'nova-3', language: 'multi' })
      .withRawResponse();
    await media.transcribeFile(FILE, { model: 'nova-3-multilingual' });
    expect(rawResponse.headers.get('x-svc-model')).toBe('deepgram/nova-3-multilingual');
    for (const { url } of market.peer.heard) {
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        model: 'nova-3',
        language: 'multi',
      });
    }
    const costs = (await chargesOf(shopper.agentId)).map(({ cost }) => cost);
    expect(costs).toHaveLength(2);
    expect(costs[0]).toBe(costs[1]);
  });

  it("a file from Deepgram's client may be a URL, which is fetched through the destination guard", async () => {
    const { media, shopper } = await open('address');
    market.fetched.count = 0;
    const answer = await media.transcribeUrl({ url: market.sound(1_500), model: 'nova-3' });
    expect(market.fetched.count).toBe(1);
    expect(bestOf(answer).transcript).toMatch(/^heard [0-9a-f]{16}$/);
    const [charge] = await chargesOf(shopper.agentId);
    expect(charge?.usage).toEqual({ audio_second: 1.5 });
  });

  it("a file from Deepgram's client costs nothing when its URL is missing, blocked or invalid", async () => {
    const { media, shopper } = await open('no-address');
    const missing = market.sound(1_000).replace('sound-', 'nothing-');
    const of = (url: string) => refusedWith(media.transcribeUrl({ url, model: 'nova-3' }));
    expect(await of(missing)).toMatchObject({
      statusCode: 400,
      body: { err_code: 'REMOTE_CONTENT_ERROR', err_msg: expect.stringContaining('404') },
    });
    expect(await of('http://169.254.169.254/latest')).toMatchObject({
      statusCode: 400,
      body: { err_code: 'Bad Request', error: 'blocked_destination' },
    });
    expect(await of('no address')).toMatchObject({ statusCode: 400 });
    expect(await of(`http://a.example/${'x'.repeat(5_000)}`)).toMatchObject({ statusCode: 400 });
    expect(await chargesOf(shopper.agentId)).toEqual([]);
  });

  it("a file from Deepgram's client is charged once under one Idempotency-Key, however often it is sent", async () => {
    const { media, shopper } = await open('twice');
    const headers = { 'Idempotency-Key': 'the-same' };
    const first = await media.transcribeFile(FILE, LOCAL, { headers });
    const second = await media.transcribeFile(FILE, LOCAL, { headers }).withRawResponse();
    expect(second.data).toEqual(first);
    expect(second.rawResponse.headers.get('x-svc-idempotent-replay')).toBe('true');
    expect(await chargesOf(shopper.agentId)).toHaveLength(1);
  });
});

describe('a refusal in the words of the vendor', () => {
  const shape = {
    err_msg: expect.any(String),
    request_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
  };

  it.each([
    ['a wrong key', 401, 'INVALID_AUTH', 'invalid_api_key'],
    ['no money', 402, 'ASR_PAYMENT_REQUIRED', 'budget_exhausted'],
    ['no such model', 404, 'NOT_FOUND', 'model_not_found'],
    ['what is no sound', 400, 'Bad Request', 'invalid_request'],
    ['a file that is too long', 413, 'PAYLOAD_TOO_LARGE', 'payload_too_large'],
  ])(
    "Deepgram's client gets the vendor's error format for %s",
    async (what, statusCode, err_code, error) => {
      const { shopper } = await open(`refused ${what}`, what === 'no money' ? 1n : undefined);
      const apiKey = what === 'a wrong key' ? `svc_${'0'.repeat(64)}` : shopper.key;
      const { media } = deepgramAt({ url: market.world.url, apiKey }).listen.v1;
      const isNoSound = what === 'what is no sound';
      const sound = isNoSound ? Buffer.from('no sound at all') : FILE;
      const file = what === 'a file that is too long' ? Buffer.alloc(26 * 1024 * 1024) : sound;
      const model = what === 'no such model' ? 'nova-99' : 'local/pocketsphinx';
      const refused = await refusedWith(media.transcribeFile(file, { model }));
      expect(refused).toMatchObject({ statusCode, body: { ...shape, err_code, error } });
      expect(await chargesOf(shopper.agentId)).toEqual([]);
    },
  );

  it("Deepgram's client gets a refusal for an unsupported option that would change the transcript or its recipient", async () => {
    const { media, shopper } = await open('not done');
    for (const [wish, word] of [
      [{ redact: 'pci' }, 'redact'],
      [{ multichannel: true }, 'multichannel'],
      [{ callback: 'https://a.example' }, 'callback'],
      [{ language: 'de' }, 'English'],
    ] as const) {
      expect(await refusedWith(media.transcribeFile(FILE, { ...LOCAL, ...wish }))).toMatchObject({
        statusCode: 400,
        body: { err_code: 'Bad Request', err_msg: expect.stringMatching(new RegExp(word, 'i')) },
      });
    }
    // A second question mark is part of a value, and ends no query.
    const hidden = await fetch(`${market.world.url}/v1/listen?model=nova-3&search=a?&redact=pci`, {
      method: 'POST',
      headers: { authorization: `Token ${shopper.key}` },
      body: FILE,
    });
    expect(hidden.status).toBe(400);
    // The vendor bills it apart.
    const diarized = media.transcribeFile(FILE, { model: 'nova-3', diarize: true });
    expect(await refusedWith(diarized)).toMatchObject({ statusCode: 400, body: shape });
    expect(await chargesOf(shopper.agentId)).toEqual([]);
  });

  it("Deepgram's client gets a refusal of the upstream in the vendor's error format", async () => {
    const { media, shopper } = await open('declined');
    market.peer.faults.push({
      kind: 'status',
      status: 400,
      body: '{"err_code":"Bad Request","err_msg":"corrupt or unsupported data","request_id":"x"}',
    });
    expect(await refusedWith(media.transcribeFile(FILE, { model: 'nova-3' }))).toMatchObject({
      statusCode: 400,
      body: { ...shape, err_msg: 'corrupt or unsupported data', error: 'upstream_refused' },
    });
    expect((await chargesOf(shopper.agentId)).map(({ cost }) => cost)).toEqual([0n]);
  });
});
