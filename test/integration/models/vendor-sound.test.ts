import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeWav } from '../../../media/wav.ts';
import { MODEL_LIMITS } from '../../../src/models/limits.ts';
import { decodeSound } from '../../support/decode-sound.ts';
import {
  type MarketWorld,
  type Shopper,
  startMarketWorld,
} from '../../support/vendors/market-world.ts';
import { pcmOf, soundOf } from '../../support/vendors/protocols.ts';
import { moneyOf } from '../../support/whole-world.ts';

const TEXT = 'Good day to the 🙂 who listens.';
const CHARACTERS = 30n;
/** 1.2 seconds of sound. */
const FILE = Buffer.from(encodeWav(new Int16Array(19_200), 16_000));

let market: MarketWorld;
let agent: Shopper;
let openai: OpenAI;
const clientOf = (apiKey: string, headers: Record<string, string> = {}) =>
  new OpenAI({ apiKey, baseURL: `${market.world.url}/v1`, maxRetries: 0, defaultHeaders: headers });
beforeAll(async () => {
  market = await startMarketWorld();
  agent = await market.shopper('listener', 10_000_000n);
  openai = clientOf(agent.key);
});
afterAll(() => market[Symbol.asyncDispose]());

/** What an agent paid meanwhile, once nothing of it is held any more. */
async function paid(run: () => Promise<unknown>, { agentId } = agent): Promise<bigint> {
  const before = await moneyOf(market.world.sql, agentId);
  await run();
  await expect.poll(async () => (await moneyOf(market.world.sql, agentId)).held).toBe(0n);
  const after = await moneyOf(market.world.sql, agentId);
  expect(before.spendable - after.spendable).toBe(after.charged - before.charged);
  return after.charged - before.charged;
}

const speak = (more: object = {}, client = openai) =>
  client.audio.speech.create({ model: 'cartesia/sonic-3', voice: 'alloy', input: TEXT, ...more });
const hear = (more: object = {}, client = openai) =>
  client.audio.transcriptions
    .create({
      file: new File([FILE], 'said.wav', { type: 'audio/wav' }),
      model: 'cartesia/ink-whisper',
      ...(more as { response_format: 'json' }),
    })
    .withResponse();
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
const thrownBy = async (run: Promise<unknown>) => {
  const error: unknown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  return error as InstanceType<typeof OpenAI.APIError>;
};

/** Dollars a million at the list, times the margin, rounded up. */
const spoken = (usd: bigint) => (CHARACTERS * usd * 105n + 99n) / 100n;
const VOICES = [
  ['cartesia/sonic-3', 30n, 'sonic-3'],
  ['elevenlabs/flash-v2.5', 50n, 'eleven_flash_v2_5'],
  ['elevenlabs/turbo-v2.5', 50n, 'eleven_turbo_v2_5'],
  ['elevenlabs/multilingual-v2', 100n, 'eleven_multilingual_v2'],
  ['elevenlabs/v3', 100n, 'eleven_v3'],
  ['rime/mist-v2', 30n, 'mistv2'],
] as const;

describe('POST /v1/audio/speech of a vendor with a protocol of its own', () => {
  it.each(VOICES)(
    'speech of a vendor with its own protocol is sold by the character: %s',
    async (model, usd, upstreamModel) => {
      const charged = await paid(async () => {
        const response = await speak({ model });
        expect(await bytesOf(response)).toEqual(soundOf(TEXT));
        expect(response.headers.get('content-type')).toMatch(/^audio\/mp/);
        expect(response.headers.get('x-svc-cost-usdc')).toBe(String(spoken(usd)));
        expect(response.headers.get('x-svc-payment')).toBe('gateway');
        expect(response.headers.get('x-svc-model')).toBe(model);
      });
      expect(charged).toBe(spoken(usd));
      expect(market.peer.heard.at(-1)?.body.toString()).toContain(`"${upstreamModel}"`);
    },
  );

  it.each(['cartesia/sonic-3', 'elevenlabs/flash-v2.5', 'rime/mist-v2'])(
    'speech of a vendor with its own protocol is converted to formats that the vendor lacks: %s',
    async (model) => {
      const samples = pcmOf(TEXT);
      const made = async (response_format: string) => {
        const response = await speak({ model, response_format });
        const type = response.headers.get('content-type');
        return { type, bytes: await bytesOf(response) };
      };
      expect(await made('pcm')).toEqual({ type: 'audio/pcm', bytes: samples });
      const wav = await made('wav');
      expect([wav.type, wav.bytes.subarray(44)]).toEqual(['audio/wav', samples]);
      expect((await decodeSound(wav.bytes)).sampleRateHz).toBe(24_000);
      for (const [format, type] of [
        ['flac', 'audio/flac'],
        ['opus', 'audio/ogg'],
        ['aac', 'audio/aac'],
      ] as const) {
        const file = await made(format);
        expect(file.type).toBe(type);
        const decoded = await decodeSound(file.bytes);
        const seconds = decoded.samples.length / decoded.channels / decoded.sampleRateHz;
        expect(Math.abs(seconds - samples.length / 48_000)).toBeLessThan(0.2);
        if (format === 'flac')
          expect(Buffer.from(decoded.samples.buffer).length).toBe(samples.length);
      }
    },
  );

  it('speech sends the requested voice, language and speed in the vendor’s own fields', async () => {
    const asked = { voice: 'voice1', speed: 1.1, language: 'de' };
    const sent = async (model: string) => {
      await bytesOf(await speak({ ...asked, model }));
      const last = market.peer.heard.at(-1);
      return { path: last?.url.pathname, body: JSON.parse(String(last?.body)) };
    };
    expect((await sent('cartesia/sonic-3')).body).toMatchObject({
      voice: { mode: 'id', id: 'voice1' },
      language: 'de',
      generation_config: { speed: 1.1 },
    });
    expect(await sent('elevenlabs/v3')).toMatchObject({
      path: '/text-to-speech/voice1/stream',
      body: { language_code: 'de', voice_settings: { speed: 1.1 } },
    });
    expect((await sent('rime/mist-v2')).body).toMatchObject({
      speaker: 'voice1',
      lang: 'de',
      speedAlpha: 1 / 1.1,
    });
  });

  it('a voice name with slashes is escaped in the path of the vendor’s URL', async () => {
    await thrownBy(speak({ model: 'elevenlabs/v3', voice: '../../v1/history?x=' }));
    expect(market.peer.heard.at(-1)?.url.pathname).toBe(
      '/text-to-speech/..%2F..%2Fv1%2Fhistory%3Fx%3D/stream',
    );
  });

  it('speech that the vendor could not accept is refused before the vendor is called', async () => {
    const asked = market.peer.heard.length;
    const refused = await paid(async () => {
      const slow = await thrownBy(speak({ speed: 0.3 }));
      expect(slow).toMatchObject({ status: 400, param: 'speed' });
      const long = await thrownBy(speak({ model: 'rime/mist-v2', input: 'x'.repeat(3_001) }));
      expect(long).toMatchObject({ status: 400, param: 'input' });
    });
    expect([refused, market.peer.heard.length]).toEqual([0n, asked]);
  });
});

/** By the hour: of 1.2 seconds at the catalogue's rate of a second, whose last decimal is rounded up. */
const EARS = [
  // 0.135, 0.22, 0.21 and 0.15 dollars.
  ['cartesia/ink-whisper', 48n, 'en'],
  ['elevenlabs/scribe-v2', 78n, 'eng'],
  ['assemblyai/universal-3.5-pro', 74n, 'en'],
  ['assemblyai/universal-2', 53n, 'en'],
] as const;

const HEARD = /^heard [0-9a-f]{16}$/;

describe('POST /v1/audio/transcriptions of a vendor with a protocol of its own', () => {
  it.each(EARS)(
    'a transcription of a vendor with its own protocol is sold by the second of audio: %s',
    async (model, price) => {
      const charged = await paid(async () => {
        const { data, response } = await hear({ model });
        expect(data).toEqual({
          text: expect.stringMatching(HEARD),
          usage: { type: 'duration', seconds: 1.2 },
        });
        expect(response.headers.get('x-svc-cost-usdc')).toBe(String(price));
        expect(response.headers.get('x-svc-payment')).toBe('gateway');
      });
      expect(charged).toBe(price);
    },
  );

  it.each(EARS)(
    'a transcription of a vendor with its own protocol has word and segment times: %s',
    async (model, _price, language) => {
      const asked = {
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      };
      const { data } = await hear({ model, ...asked });
      const [word, print] = data.text.split(' ');
      expect(data).toMatchObject({
        task: 'transcribe',
        language,
        duration: 1.2,
        words: [
          { word, start: 0.1, end: 0.4 },
          { word: print, start: 0.5, end: 1.25 },
        ],
        segments: [{ id: 0, start: 0.1, end: 1.25, text: data.text }],
      });
      const srt = (await hear({ model, response_format: 'srt' })).data as unknown;
      expect(srt).toBe(`1\n00:00:00,100 --> 00:00:01,250\n${data.text}\n`);
      const text = (await hear({ model, response_format: 'text' })).data as unknown;
      expect(text).toBe(`${data.text}\n`);
    },
  );

  it('a vendor’s transcription with stream arrives as one delta and one done event, at the same price', async () => {
    const charged = await paid(async () => {
      const stream = await openai.audio.transcriptions.create({
        file: new File([FILE], 'said.wav'),
        model: 'elevenlabs/scribe-v2',
        stream: true,
      });
      const events: { type: string }[] = [];
      for await (const event of stream) events.push(event);
      expect(events).toMatchObject([
        { type: 'transcript.text.delta', delta: expect.stringMatching(HEARD) },
        { type: 'transcript.text.done', text: expect.stringMatching(HEARD) },
      ]);
    });
    expect(charged).toBe(78n);
  });

  it('a vendor’s transcription may have 110,000 items and 11 MB', async () => {
    const items = Array.from({ length: 110_000 }, (_, at) => ({
      text: at % 2 ? ' ' : 'word',
      start: at / 10,
      end: at / 10,
      logprob: -0.000123,
      type: at % 2 ? 'spacing' : 'word',
      speaker_id: 'speaker_0',
    }));
    const body = JSON.stringify({ text: 'word', words: items });
    expect(body.length).toBeGreaterThan(MODEL_LIMITS.upstream.answerBytes);
    market.peer.faults.push({ kind: 'says', said: { body } });
    const { data } = await hear({ model: 'elevenlabs/scribe-v2' });
    expect(data.text).toBe('word');
  });

  it('a vendor’s transcription with diarized_json is refused before the vendor is called', async () => {
    const asked = market.peer.heard.length;
    const error = await thrownBy(hear({ response_format: 'diarized_json' }));
    expect(error).toMatchObject({ status: 400, param: 'response_format' });
    expect(market.peer.heard.length).toBe(asked);
  });
});

const FAILURE = { kind: 'status', status: 500 } as const;

describe('a vendor that does not deliver', () => {
  it.each([
    ['fails', 'cartesia/sonic-3', [FAILURE], 502],
    ['answers no sound', 'elevenlabs/v3', [{ kind: 'says', said: { body: '{}' } }], 502],
    ['has too many callers', 'rime/mist-v2', [{ kind: 'status', status: 429 }], 429],
    ['refuses', 'elevenlabs/flash-v2.5', [{ kind: 'status', status: 422 }], 422],
  ] as const)(
    'a vendor is not paid for speech when it %s: %s',
    async (_, model, faults, status) => {
      market.peer.faults.push(...faults);
      expect(
        await paid(async () => expect((await thrownBy(speak({ model }))).status).toBe(status)),
      ).toBe(0n);
    },
  );

  it.each([
    ['fails', 'cartesia/ink-whisper', [FAILURE], 502],
    ['answers no JSON', 'elevenlabs/scribe-v2', [{ kind: 'says', said: { body: '<html>' } }], 502],
    ['refuses', 'cartesia/ink-whisper', [{ kind: 'status', status: 400 }], 400],
    [
      'gives up its job',
      'assemblyai/universal-2',
      ['cdn:x', 'queued', 'error'].map((status) => ({
        kind: 'says',
        said: { body: JSON.stringify({ upload_url: 'cdn:x', id: 'j', status, error: 'bad file' }) },
      })),
      422,
    ],
  ] as const)(
    'a vendor is not paid for a transcript when it %s: %s',
    async (_, model, faults, status) => {
      market.peer.faults.push(...(faults as never[]));
      expect(
        await paid(async () => expect((await thrownBy(hear({ model }))).status).toBe(status)),
      ).toBe(0n);
      expect(market.peer.faults).toEqual([]);
    },
  );

  it('a vendor’s speech that breaks off during conversion to another format is not paid', async () => {
    market.peer.faults.push({ kind: 'cut' });
    const broken = () =>
      thrownBy(speak({ model: 'elevenlabs/multilingual-v2', response_format: 'wav' }));
    expect(await paid(async () => expect((await broken()).status).toBe(502))).toBe(0n);
  });

  it('a vendor’s speech that breaks off after its beginning is paid the announced price', async () => {
    market.peer.faults.push({ kind: 'cut' });
    const charged = await paid(async () => {
      const response = await speak({ model: 'elevenlabs/turbo-v2.5' });
      expect(response.headers.get('x-svc-cost-usdc')).toBe(String(spoken(50n)));
      await expect(response.arrayBuffer()).rejects.toThrow();
    });
    expect(charged).toBe(spoken(50n));
  });

  it('a client that leaves a vendor’s speech before the response stops the call, unpaid', async () => {
    const [before, asked] = [market.peer.left.count, market.peer.heard.length];
    market.peer.faults.push({ kind: 'silence' });
    const charged = await paid(async () => {
      const leaving = new AbortController();
      const left = openai.audio.speech
        .create({ model: 'rime/mist-v2', voice: 'cove', input: TEXT }, { signal: leaving.signal })
        .catch((error: Error) => error.name);
      await expect.poll(() => market.peer.heard.length).toBe(asked + 1);
      leaving.abort();
      await left;
      await expect.poll(() => market.peer.left.count).toBe(before + 1);
    });
    expect(charged).toBe(0n);
  });

  it('a vendor’s error for a file without speech becomes an empty transcript', async () => {
    const said = (body: object) =>
      ({ kind: 'says', said: { body: JSON.stringify(body) } }) as const;
    const error = 'language_detection cannot be performed on files with no spoken audio.';
    market.peer.faults.push(
      said({ upload_url: 'cdn:x' }),
      said({ id: 'j', status: 'error', error }),
    );
    const { data } = await hear({ model: 'assemblyai/universal-2' });
    expect(data.text).toBe('');
  });
});

describe('money and keys', () => {
  const sold = { kind: 'says', said: { type: 'audio/mpeg', body: 'ID3 sound' } } as const;
  const OPENED = [
    ['cartesia/sonic-3', { authorization: 'Bearer own-key' }],
    ['elevenlabs/v3', { 'xi-api-key': 'own-key' }],
    ['rime/mist-v2', { authorization: 'Bearer own-key' }],
  ] as const;

  it.each(OPENED)(
    'a vendor’s speech with the caller’s own key costs the fixed fee: %s',
    async (model, opened) => {
      const own = clientOf(agent.key, { 'x-svc-provider-key': 'own-key' });
      market.peer.faults.push(sold);
      const charged = await paid(async () => {
        const response = await speak({ model }, own);
        expect((await bytesOf(response)).toString()).toBe('ID3 sound');
        expect(response.headers.get('x-svc-payment')).toBe('byok');
      });
      expect(charged).toBe(MODEL_LIMITS.byokFeeRaw);
      expect(market.peer.heard.at(-1)?.headers).toMatchObject(opened);
    },
  );

  it('a balance below the price refuses speech and transcription before the vendor is called', async () => {
    const poor = await market.shopper('poor', 30n);
    const asked = market.peer.heard.length;
    for (const run of [speak, hear]) {
      const error = await thrownBy(run({}, clientOf(poor.key)));
      expect(error).toMatchObject({ status: 402, code: 'budget_exhausted' });
    }
    expect(market.peer.heard.length).toBe(asked);
  });

  it('vendor speech and transcription models are not sold when this server has no account of the vendor', async () => {
    await using bare = await startMarketWorld({}, { secret: () => undefined });
    const { key } = await bare.shopper('keyless');
    const client = new OpenAI({ apiKey: key, baseURL: `${bare.world.url}/v1`, maxRetries: 0 });
    for (const run of [speak, hear]) {
      expect(await thrownBy(run({}, client))).toMatchObject({
        status: 404,
        code: 'model_not_found',
      });
    }
    expect(bare.peer.heard).toEqual([]);
  });
});
