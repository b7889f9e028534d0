import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type {
  ModelEntry,
  ProviderEntry,
} from '../../../src/models/catalogue/builtin/builtin-model.ts';
import { SPEECH_FORMATS } from '../../../src/models/providers/speech-rail.ts';
import type { UpstreamLimits } from '../../../src/models/providers/upstream-pool.ts';
import type { RateLimits } from '../../../src/rate-limit/rate-gate.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { gatewayWorld } from '../../support/gateway-world.ts';
import {
  answers,
  breaksAfter,
  hangsAfter,
  noise,
  type SpeechUpstream,
  sends,
  sendsEvents,
  speechUpstream,
} from '../../support/speech-upstream.ts';

const AGENT = 1;
const FUNDS = 1_000_000n;
const MODEL = 'acme/voice-1';
/** Eleven characters, one of which is two units long: at 15 dollars a million and the margin 174 raw, rounded up. */
const INPUT = 'Good day 🙂!';
const PRICE = 174n;

/** Two peers, the second dearer, the gateway before them, and an agent with one dollar. */
async function world(
  options: { limits?: Partial<UpstreamLimits>; rateLimits?: Partial<RateLimits> } = {},
) {
  const [first, second] = [await speechUpstream(), await speechUpstream()];
  const provider = ({ baseUrl }: SpeechUpstream): ProviderEntry => ({
    baseUrl,
    dialect: 'openai',
    apiKeyEnv: 'UP_KEY',
  });
  const source = (id: string, rates: object) =>
    ({ rail: 'direct-account', provider: id, upstreamModel: `${id}-voice`, rates }) as const;
  const models: ModelEntry[] = [
    {
      id: MODEL,
      modality: 'tts',
      sources: [source('up0', { character: '15' }), source('up1', { character: '30' })],
    },
    {
      id: 'acme/tokens',
      modality: 'tts',
      sources: [source('up0', { text_input_token: '0.6', audio_output_token: '12' })],
    },
    { id: 'acme/words', modality: 'text', sources: [source('up0', { request: '1' })] },
  ];
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: FUNDS, reference: 'start' });
  const gateway = await gatewayWorld({
    ledger,
    models,
    providers: { up0: provider(first), up1: provider(second) },
    secret: () => 'sk-upstream',
    ...options,
  });
  const openai = new OpenAI({
    apiKey: gateway.openai.apiKey,
    baseURL: gateway.baseUrl,
    maxRetries: 0,
  });
  const speak = (more: object = {}, options: { signal?: AbortSignal } = {}) =>
    openai.audio.speech.create({ model: MODEL, input: INPUT, voice: 'alloy', ...more }, options);
  const thrown = async (more: object = {}) => {
    const error = await speak(more).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    return error as InstanceType<typeof OpenAI.APIError>;
  };
  /** Nothing is held any more, and what is gone is what the rows say. */
  const charged = async () => {
    await expect.poll(() => ledger.openHolds()).toBe(0);
    const consumed = ledger.consumedRaw(AGENT);
    const funds = await ledger.funds(AGENT);
    expect((funds?.spendableRaw ?? 0n) + consumed).toBe(FUNDS);
    expect(ledger.charges.reduce((sum, { costRaw }) => sum + costRaw, 0n)).toBe(consumed);
    return consumed;
  };
  return {
    first,
    second,
    gateway,
    ledger,
    openai,
    speak,
    thrown,
    charged,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
    },
  };
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

const TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

describe('POST /v1/audio/speech', () => {
  it.each(SPEECH_FORMATS)(
    'speech in %s is relayed unchanged, with its content type and its price',
    async (format) => {
      await using w = await world();
      w.first.contentType = TYPES[format];
      const response = await w.speak({ response_format: format });
      expect(await bytesOf(response)).toEqual(w.first.sound);
      expect(response.headers.get('content-type')).toBe(TYPES[format]);
      expect(response.headers.get('x-svc-cost-usdc')).toBe(String(PRICE));
      expect(response.headers.get('x-svc-payment-amount')).toBe('0.000174');
      expect(response.headers.get('x-svc-payment')).toBe('gateway');
      expect(response.headers.get('x-svc-model')).toBe(MODEL);
      expect(response.headers.get('x-svc-attempts')).toBeNull();
      expect(await w.charged()).toBe(PRICE);
      expect(w.ledger.charges).toEqual([
        expect.objectContaining({ status: 'success', usage: { character: 11 } }),
      ]);
    },
  );

  it('a speech request forwards all fields unchanged except the model’s name and the credential', async () => {
    await using w = await world();
    const sent = { voice: { id: 'voice_1' }, instructions: 'Whisper.', speed: 1.5, odd: [null, 1] };
    await bytesOf(await w.speak({ ...sent, response_format: 'flac', stream_format: 'audio' }));
    expect(w.first.seen).toEqual([
      {
        path: '/v1/audio/speech',
        authorization: 'Bearer sk-upstream',
        body: { model: 'up0-voice', input: INPUT, ...sent, response_format: 'flac' },
      },
    ]);
  });

  it('speech has the content type of its bytes, whatever its upstream says', async () => {
    await using w = await world();
    const wav = Buffer.concat([Buffer.from('RIFF....WAVEfmt '), noise(100)]);
    w.first.plays.push(sends(wav, 'audio/mpeg'), sends(noise(100), undefined));
    expect((await w.speak()).headers.get('content-type')).toBe('audio/wav');
    const untold = await w.speak({ response_format: 'aac' });
    expect(untold.headers.get('content-type')).toBe('audio/aac');
  });

  it('speech sends its first audio before the rest is made', async () => {
    await using w = await world();
    w.first.plays.push(hangsAfter(noise(1_000)));
    const reader = (await w.speak()).body?.getReader();
    expect((await reader?.read())?.value?.length).toBe(1_000);
    await reader?.cancel();
    expect(await w.charged()).toBe(PRICE);
  });

  it('speech goes to the next source when one breaks before its first byte', async () => {
    await using w = await world();
    for (const play of [breaksAfter(Buffer.alloc(0)), answers(500), answers(429)]) {
      w.first.plays.push(play);
      const response = await w.speak();
      expect(await bytesOf(response)).toEqual(w.second.sound);
      expect(response.headers.get('x-svc-attempts')).toBe('2');
      expect(response.headers.get('x-svc-cost-usdc')).toBe('347');
    }
    expect(await w.charged()).toBe(3n * 347n);
  });

  it('an empty response, or one of a type other than audio, is not accepted as speech', async () => {
    await using w = await world();
    w.first.plays.push(sends(Buffer.alloc(0), 'audio/mpeg'), sends(noise(9), 'text/html'));
    for (let i = 0; i < 2; i++) {
      expect((await w.speak()).headers.get('x-svc-attempts')).toBe('2');
    }
  });

  it('speech that breaks off in the middle cuts the connection, and is charged the announced price', async () => {
    await using w = await world();
    w.first.plays.push(breaksAfter(noise(5_000)));
    const response = await w.speak();
    expect(response.headers.get('x-svc-cost-usdc')).toBe(String(PRICE));
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(await w.charged()).toBe(PRICE);
    expect(w.second.seen).toEqual([]);
  });

  it('speech whose sources all fail costs nothing, and may be retried', async () => {
    await using w = await world();
    w.first.plays.push(answers(503));
    w.second.plays.push(breaksAfter(Buffer.alloc(0)));
    const error = await w.thrown();
    expect(error).toMatchObject({ status: 502, code: 'all_sources_failed' });
    expect(error.headers?.get('x-should-retry')).toBe('true');
    expect(await w.charged()).toBe(0n);
  });

  it('an upstream’s refusal of speech is relayed unchanged and uncharged', async () => {
    await using w = await world();
    const refusal = { error: { message: 'no such voice', type: 'invalid_request_error' } };
    w.first.plays.push(answers(400, refusal));
    const error = await w.thrown();
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error.message).toContain('no such voice');
    expect(error.headers?.get('x-svc-payment')).toBe('passthrough');
    expect(error.headers?.get('x-svc-cost-usdc')).toBe('0');
    expect(w.second.seen).toEqual([]);
    expect(await w.charged()).toBe(0n);
  });

  it('a client that leaves speech before its first byte stops the upstream call, uncharged', async () => {
    await using w = await world();
    w.first.plays.push(hangsAfter(Buffer.alloc(0)));
    const leaving = new AbortController();
    const left = w.speak({}, { signal: leaving.signal }).catch((error: Error) => error.name);
    await expect.poll(() => w.first.seen.length).toBe(1);
    leaving.abort();
    await left;
    await expect.poll(() => w.first.abandoned.count).toBe(1);
    expect(await w.charged()).toBe(0n);
    expect(w.second.seen).toEqual([]);
  });

  it('a client that leaves speech in the middle stops the upstream call, and is charged the announced price', async () => {
    await using w = await world();
    w.first.plays.push(hangsAfter(noise(1_000)));
    const leaving = new AbortController();
    const response = await w.speak({}, { signal: leaving.signal });
    leaving.abort();
    await expect(response.arrayBuffer()).rejects.toThrow();
    await expect.poll(() => w.first.abandoned.count).toBe(1);
    expect(await w.charged()).toBe(PRICE);
  });

  it('an invalid speech request is refused with our own error before anything is sent upstream', async () => {
    await using w = await world();
    const cases = [
      [{ input: '' }, 400, 'input'],
      [{ input: '🙂'.repeat(4_097) }, 400, 'input'],
      [{ response_format: 'midi' }, 400, 'response_format'],
      [{ speed: 5 }, 400, 'speed'],
      [{ stream_format: 'carrier pigeon' }, 400, 'stream_format'],
      [{ voice: { name: 'x' } }, 400, 'voice'],
      [{ model: 'acme/words' }, 400, 'model'],
      [{ model: 'voice-9' }, 404, 'model'],
    ] as const;
    for (const [more, status, param] of cases) {
      expect(await w.thrown(more), JSON.stringify(more)).toMatchObject({ status, param });
    }
    expect(w.first.seen).toEqual([]);
    expect(await w.charged()).toBe(0n);
  });

  it('the character limit of speech counts characters, not bytes', async () => {
    await using w = await world();
    await bytesOf(await w.speak({ input: '🙂'.repeat(4_096) }));
    expect(w.ledger.charges[0]?.usage).toEqual({ character: 4_096 });
  });

  it('speech that the balance does not cover is refused with 402 before any upstream call', async () => {
    await using w = await world();
    w.ledger.refuse(AGENT, { reason: 'insufficient_balance', availableRaw: 0n, requiredRaw: 347n });
    expect(await w.thrown()).toMatchObject({ status: 402, code: 'budget_exhausted' });
    expect(w.first.seen).toEqual([]);
  });

  it('the openai client throws its own errors for a wrong key, a wrong model and a flood of speech requests', async () => {
    await using w = await world({ rateLimits: { gatewayPerMinute: 2 } });
    const stranger = new OpenAI({ apiKey: `svc_${'0'.repeat(64)}`, baseURL: w.gateway.baseUrl });
    const unknown = stranger.audio.speech.create({ model: MODEL, input: INPUT, voice: 'alloy' });
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    expect(await w.thrown({ model: 'acme/none' })).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await w.thrown({ speed: 9 })).toBeInstanceOf(OpenAI.BadRequestError);
    const flood = await w.thrown();
    expect(flood).toBeInstanceOf(OpenAI.RateLimitError);
    expect(flood.headers?.get('retry-after')).toMatch(/^\d+$/);
    expect(w.first.seen).toEqual([]);
    expect(await w.charged()).toBe(0n);
  });

  it('speech is cut off when its upstream falls silent in the middle', async () => {
    await using w = await world({ limits: { idleMs: 1_000 } });
    w.first.plays.push(hangsAfter(noise(1_000)));
    const response = await w.speak();
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(await w.charged()).toBe(PRICE);
  });

  it('speech under an Idempotency-Key is bought once, and replayed byte for byte', async () => {
    await using w = await world();
    const buy = () =>
      w.gateway.request('/audio/speech', {
        body: { model: MODEL, input: INPUT, voice: 'alloy' },
        headers: { 'idempotency-key': 'k' },
      });
    const [once, again] = [await buy(), await buy()];
    expect(await bytesOf(again)).toEqual(await bytesOf(once));
    expect(again.headers.get('content-type')).toBe('audio/mpeg');
    expect(again.headers.get('x-svc-cost-usdc')).toBe(String(PRICE));
    expect(again.headers.get('x-svc-idempotent-replay')).toBe('true');
    expect(w.first.seen).toHaveLength(1);
  });
});

type SpeechEvent = { type?: string; audio?: string; usage?: object; error?: object };

async function eventsOf(response: Response) {
  const text = await response.text();
  const events = text
    .split('\n\n')
    .filter((part) => part.startsWith('data: '))
    .map((part) => JSON.parse(part.slice(6)) as SpeechEvent);
  const sound = Buffer.concat(events.map(({ audio }) => Buffer.from(audio ?? '', 'base64')));
  return { text, events, sound };
}

describe('speech in events', () => {
  it('speech in events is built from the file of an upstream without events, with the price in the header', async () => {
    await using w = await world();
    const response = await w.speak({ stream_format: 'sse' });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('x-svc-cost-usdc')).toBe(String(PRICE));
    const { events, sound } = await eventsOf(response);
    expect(sound).toEqual(w.first.sound);
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { characters: 11 } });
    expect(w.first.seen[0]?.body).not.toHaveProperty('stream_format');
    expect(await w.charged()).toBe(PRICE);
  });

  it('speech in events is charged by the tokens that its upstream reports in the last event', async () => {
    await using w = await world();
    const usage = { input_tokens: 10, output_tokens: 20, total_tokens: 30 };
    w.first.plays.push(sendsEvents([noise(3_000), noise(500)], usage));
    const response = await w.speak({ model: 'acme/tokens', stream_format: 'sse' });
    const { events, sound, text } = await eventsOf(response);
    expect(w.first.seen[0]?.body).toMatchObject({ stream_format: 'sse' });
    expect(sound).toEqual(Buffer.concat([noise(3_000), noise(500)]));
    expect(events.at(-1)?.usage).toMatchObject(usage);
    // 10 at 0.6 and 20 at 12 dollars a million, and the margin.
    expect(await w.charged()).toBe(259n);
    expect(text).toContain(': svc-cost-usdc=259\n');
    expect(w.ledger.charges[0]?.usage).toEqual({
      character: 11,
      text_input_token: 10,
      audio_output_token: 20,
    });
  });

  it('speech in events that breaks off ends with an error, and is charged once by an estimate', async () => {
    await using w = await world();
    w.first.plays.push(sendsEvents([noise(3_000)], undefined));
    const { events } = await eventsOf(
      await w.speak({ model: 'acme/tokens', stream_format: 'sse' }),
    );
    expect(events.at(-1)?.error).toMatchObject({ code: 'upstream_broke_off' });
    expect(events.some(({ type }) => type === 'speech.audio.done')).toBe(false);
    expect(await w.charged()).toBeGreaterThan(0n);
    expect(w.ledger.charges).toEqual([
      expect.objectContaining({ usage: expect.objectContaining({ estimated: 1 }) }),
    ]);
  });

  it('a client that leaves speech in events before the end is charged, and stops the upstream call', async () => {
    await using w = await world();
    w.first.plays.push((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"type":"speech.audio.delta","audio":"AAAA"}\n\n');
    });
    const response = await w.speak({ model: 'acme/tokens', stream_format: 'sse' });
    await response.body?.cancel();
    await expect.poll(() => w.first.abandoned.count).toBe(1);
    await expect.poll(() => w.ledger.charges.length).toBe(1);
    expect(await w.charged()).toBeGreaterThan(0n);
  });

  it('a speech file whose tokens the upstream did not report is charged as estimated', async () => {
    await using w = await world();
    await bytesOf(await w.speak({ model: 'acme/tokens' }));
    expect(w.ledger.charges[0]?.usage).toMatchObject({ character: 11, estimated: 1 });
    expect(await w.charged()).toBeGreaterThan(0n);
  });
});
