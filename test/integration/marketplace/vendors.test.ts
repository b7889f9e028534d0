import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REMOTE_VENDORS } from '../../../src/marketplace/vendors/vendors.ts';
import {
  type MarketWorld,
  type Shopper,
  startMarketWorld,
} from '../../support/vendors/market-world.ts';
import { soundOf } from '../../support/vendors/protocols.ts';
import { moneyOf } from '../../support/whole-world.ts';

let market: MarketWorld;
let agent: Shopper;
beforeAll(async () => {
  market = await startMarketWorld();
  agent = await market.shopper('shopper', 10_000_000n);
});
afterAll(() => market[Symbol.asyncDispose]());

const TEXT = 'Good morning, & <welcome> to the market.';

/** What a vendor is paid for a text, with the margin, in raw units rounded up: worked out by hand from the price list. */
const spoken = (usdPerMillion: number, characters = [...TEXT].length) =>
  Math.ceil((characters * usdPerMillion * 105) / 100);
const heard = (usdPerHour: number, seconds: number) =>
  Math.ceil((seconds * usdPerHour * 1_000_000 * 105) / (3_600 * 100) - 1e-6);

const TTS: readonly [vendor: string, usdPerMillion: number, more?: Record<string, string>][] = [
  ['deepgram', 30],
  ['deepgram', 30, { voice: 'aura-2-luna-en' }],
  ['elevenlabs', 50],
  ['elevenlabs', 100, { model: 'eleven_v3' }],
  ['cartesia', 50, { target_language_code: 'de' }],
  ['google', 30, { voice: 'en-GB-Chirp3-HD-Charon' }],
  ['azure', 15, { voice: 'en-US-AvaNeural' }],
  ['rime', 50, { model: 'arcana', voice: 'celeste' }],
  ['xai', 15],
  ['inworld', 25],
  ['inworld', 35, { model: 'inworld-tts-2' }],
  ['minimax', 60],
  ['minimax', 100, { model: 'speech-2.8-hd' }],
  ['polly', 16],
  ['polly', 4, { engine: 'standard' }],
  ['polly', 30, { engine: 'generative', voice: 'Ruth' }],
  ['sarvam', 36, { target_language_code: 'hi-IN' }],
];

describe('speech of each vendor', () => {
  it.each(TTS)(
    'the marketplace sells speech of %s at %d dollars a million characters %j',
    async (vendor, usd, more) => {
      const before = await moneyOf(market.world.sql, agent.agentId);
      const told = await agent.buy(`/v1/tts/${vendor}`, { text: TEXT, ...more });
      const said = { status: told.status, error: told.body.error };
      expect(said).toEqual({ status: 200, error: undefined });
      const { result } = told.body as { result: Record<string, unknown> };
      const text =
        vendor === 'azure'
          ? TEXT.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
          : TEXT;
      expect(Buffer.from(String(result.audioBase64), 'base64')).toEqual(soundOf(text));
      expect(result).toMatchObject({
        characters: TEXT.length,
        contentType: expect.stringMatching(/^audio\/mp/),
      });
      const cost = String(spoken(usd));
      expect(told.headers.get('x-svc-cost-usdc')).toBe(cost);
      expect(told.headers.get('x-svc-payment')).toBe('internal');
      const after = await moneyOf(market.world.sql, agent.agentId);
      expect([before.spendable - after.spendable, after.held]).toEqual([BigInt(cost), 0n]);
    },
  );
});

const STT: readonly [vendor: string, ms: number, raw: number, more?: Record<string, unknown>][] = [
  // Whole minutes: 0.0077 dollars each.
  ['deepgram', 1_500, 8_085],
  ['deepgram', 60_000, 8_085, { model: 'nova-3', options: { smart_format: true } }],
  ['deepgram', 60_001, 16_170],
  ['deepgram', 1_500, 8_085, { options: { model: 'nova-3', search: ['a', 'b'] } }],
  ['elevenlabs', 1_500, heard(0.22, 1.5)],
  ['cartesia', 1_500, heard(0.135, 1.5)],
  ['azure', 1_500, heard(0.36, 1.5), { language_code: 'de-DE' }],
  ['assemblyai', 1_500, heard(0.21, 1.5)],
  ['assemblyai', 1_500, heard(0.21, 1.5), { options: { punctuate: false, word_boost: ['a'] } }],
  ['xai', 1_500, heard(0.1, 1.5)],
  ['speechmatics', 1_500, heard(0.24, 1.5)],
  ['sarvam', 1_500, heard(0.36, 1.5)],
];

describe('transcripts of each vendor', () => {
  it.each(STT)(
    'the marketplace sells a transcript of %s for %d ms at %d raw %j',
    async (vendor, ms, raw, more) => {
      const audioUrl = market.sound(ms);
      const told = await agent.buy(`/v1/stt/${vendor}`, { audioUrl, ...more });
      expect([told.status, told.body.error]).toEqual([200, undefined]);
      const { result } = told.body as { result: Record<string, unknown> };
      expect(result.text).toMatch(/^heard [0-9a-f]{16}\.?$/);
      expect(told.headers.get('x-svc-cost-usdc')).toBe(String(raw));
      expect(told.headers.get('x-svc-payment')).toBe('internal');
    },
  );
});

describe('options of a transcript', () => {
  const bodyOf = (path: string) => {
    const asked = market.peer.heard.findLast(({ url }) => url.pathname.endsWith(path));
    return { query: asked?.url.searchParams, body: asked?.body.toString() ?? '' };
  };

  it('options of a transcript go to the vendor unchanged: lists stay lists, and the model is sent once', async () => {
    const audioUrl = market.sound(1_500);
    const options = { model: 'nova-3', search: ['a', 'b'], smart_format: true };
    await agent.buy('/v1/stt/deepgram', { audioUrl, options });
    const { query } = bodyOf('/listen');
    expect(query?.getAll('model')).toEqual(['nova-3']);
    expect(query?.getAll('search')).toEqual(['a', 'b']);
    await agent.buy('/v1/stt/assemblyai', {
      audioUrl,
      options: { punctuate: false, word_boost: ['a', 'b'] },
    });
    expect(JSON.parse(bodyOf('/transcript').body)).toMatchObject({
      punctuate: false,
      word_boost: ['a', 'b'],
      speech_models: ['universal-3-5-pro'],
    });
  });

  it.each([
    ['stt/deepgram', { options: { model: 'nova-2' } }, 'model: must be one of nova-3'],
    [
      'stt/deepgram',
      { model: 'nova-3', options: { model: 'nova-2' } },
      'options: must name the same model as model',
    ],
    [
      'stt/assemblyai',
      { options: { speaker_labels: true } },
      'options: must not have speaker_labels: it changes the bill or is not known here',
    ],
    [
      'stt/speechmatics',
      { options: { diarization: 'speaker' } },
      'options: must not have diarization: this vendor takes none',
    ],
    [
      'tts/sarvam',
      { model: 'bulbul:v2' },
      'model: is no model of Sarvam any more (https://docs.sarvam.ai/api/api-guides-tutorials/text-to-speech/how-to/choose-a-model); it must be one of bulbul:v3',
    ],
  ])(
    'unsupported options of %s are refused with their name and not ignored: %j',
    async (path, more, message) => {
      const wish = path.startsWith('stt') ? { audioUrl: market.sound(1_500) } : { text: TEXT };
      const told = await agent.buy(`/v1/${path}`, { ...wish, ...more });
      expect([told.status, told.body.message]).toEqual([400, message]);
      expect(told.headers.get('x-svc-cost-usdc')).toBe('0');
    },
  );
});

describe('what else Sarvam sells', () => {
  it('Sarvam sells a transcript in another language', async () => {
    const told = await agent.buy('/v1/stt-translate/sarvam', { audioUrl: market.sound(2_000) });
    expect(told.body).toMatchObject({
      result: { text: expect.stringMatching(/^in English: heard /) },
    });
    expect(told.headers.get('x-svc-cost-usdc')).toBe(String(heard(0.36, 2)));
  });

  it.each([
    ['translate', 24, { translated_text: 'in hi-IN' }],
    ['transliterate', 24, { transliterated_text: 'other letters' }],
    ['lid', 4.2169, { language_code: 'hi-IN', script_code: 'Deva' }],
  ])(
    'Sarvam sells its %s service for a text at the published price',
    async (service, usd, result) => {
      const codes = { source_language_code: 'en-IN', target_language_code: 'hi-IN' };
      const told = await agent.buy(`/v1/${service}/sarvam`, { input: TEXT, ...codes });
      expect(told.body).toMatchObject({ result });
      expect(told.headers.get('x-svc-cost-usdc')).toBe(String(spoken(usd)));
    },
  );
});

describe('the engines of this process', () => {
  it('the local engines sell speech and transcripts for nothing, as a vendor of their own', async () => {
    const told = await agent.buy('/v1/tts/local', { text: 'Good morning.' });
    expect([told.status, told.body.error]).toEqual([200, undefined]);
    const { result } = told.body as { result: Record<string, string> };
    expect(Buffer.from(result.audioBase64 ?? '', 'base64').length).toBeGreaterThan(1_000);
    expect(told.headers.get('x-svc-cost-usdc')).toBe('0');
    expect(told.headers.get('x-svc-payment')).toBe('internal');

    const heardText = await agent.buy('/v1/stt/local', { audioUrl: market.sound(1_000) });
    expect(heardText.body).toEqual({ result: { text: expect.any(String) } });
    expect(heardText.headers.get('x-svc-cost-usdc')).toBe('0');
  });

  it('the local engines refuse an unsupported language with 400, which costs nothing', async () => {
    const told = await agent.buy('/v1/stt/local', {
      audioUrl: market.sound(1_000),
      language_code: 'de',
    });
    expect([told.status, told.body.error]).toEqual([400, 'Invalid request']);
    expect(told.headers.get('x-svc-payment')).toBe('passthrough');
  });
});

describe('a vendor', () => {
  it('a vendor without an account of this server answers 503, and an unknown vendor 404', async () => {
    await using bare = await startMarketWorld({}, { secret: () => undefined });
    const poor = await bare.shopper('poor');
    for (const { name, services } of REMOTE_VENDORS) {
      const service = services.tts === undefined ? 'stt' : 'tts';
      const body = service === 'tts' ? { text: 'Hello' } : { audioUrl: bare.sound(1_000) };
      const told = await poor.buy(`/v1/${service}/${name}`, body);
      expect([name, told.status, told.body.error]).toEqual([name, 503, 'vendor_unavailable']);
      expect(told.headers.get('x-svc-payment')).toBe('passthrough');
    }
    const free = await poor.buy('/v1/tts/local', { text: 'Hello.' });
    expect(free.status).toBe(200);
    const none = await poor.buy('/v1/tts/hume', { text: 'Hello' });
    expect([none.status, none.body.error]).toEqual([404, 'not_found']);
  });
});
