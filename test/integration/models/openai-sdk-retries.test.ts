import OpenAI from 'openai';
import { beforeEach, describe, expect, it } from 'vitest';
import { countedOpenAi, thrownBy } from '../../support/counted-openai.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { wavFile } from '../../support/sound-files.ts';
import {
  DONE,
  type StreamScript,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from '../../support/stream-upstream.ts';
import { type StreamWorld, streamWorld } from '../../support/stream-world.ts';

/** Through this server the vendor's own client recovers as it does at the vendor, and pays once. */

const AGENT = 1;
const messages = [{ role: 'user' as const, content: 'Good morning?' }];
const JSON_HEAD = { headers: { 'content-type': 'application/json' } };
const json = (body: object): StreamScript => ({ ...JSON_HEAD, pieces: [JSON.stringify(body)] });
const recording = await OpenAI.toFile(wavFile({ data: Buffer.alloc(96_000) }), 'speech.wav');

let world: StreamWorld;

beforeEach(async () => {
  world = await streamWorld({ limits: { firstByteMs: 100, idleMs: 100 } });
  return () => world[Symbol.asyncDispose]();
});

type Surface = {
  readonly answer: StreamScript;
  readonly ask: (openai: OpenAI) => Promise<unknown>;
};

const SURFACES: Readonly<Record<string, Surface>> = {
  chat: {
    answer: wholeAnswer({ content: 'Good morning.' }),
    ask: (openai) => openai.chat.completions.create({ model: 'acme/fast-1', messages }),
  },
  'a streamed chat': {
    answer: { pieces: [...wordEvents(['Good', ' morning.']), usageEvent(), DONE] },
    async ask(openai) {
      const wanted = { model: 'acme/fast-1', messages, stream: true } as const;
      for await (const event of await openai.chat.completions.create(wanted)) void event;
    },
  },
  embeddings: {
    answer: json({
      object: 'list',
      model: 'vendor',
      usage: { prompt_tokens: 90, total_tokens: 90 },
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.5] }],
    }),
    ask: (openai) =>
      openai.embeddings.create({ model: 'acme/vectors-1', input: 'x', encoding_format: 'float' }),
  },
  speech: {
    answer: { headers: { 'content-type': 'audio/mpeg' }, pieces: [Buffer.alloc(2_000, 1)] },
    async ask(openai) {
      const wanted = { model: 'acme/voice-1', voice: 'alloy', input: 'Good day.' };
      await (await openai.audio.speech.create(wanted)).arrayBuffer();
    },
  },
  transcription: {
    answer: json({ text: 'as told', usage: { type: 'duration', seconds: 3 } }),
    ask: (openai) => openai.audio.transcriptions.create({ file: recording, model: 'acme/ears-1' }),
  },
};

/** The client as it is, whose first request meets `first`. */
async function recover({ answer, ask }: Surface, first: StreamScript) {
  const { openai, sent } = countedOpenAi({ apiKey: AGENT_KEY, baseURL: world.gateway.baseUrl });
  let asked = 0;
  world.upstream.play(() => (asked++ === 0 ? first : answer));
  const startedMs = performance.now();
  await ask(openai);
  return { asked, requests: sent.filter(isRequest).length, tookMs: performance.now() - startedMs };
}

/** Before its first form the client asks its own `fetch` for an empty file, to see what it can do. */
const isRequest = (url: string) => url.startsWith('http');

const paid = () => world.ledger.charges.filter(({ costRaw }) => costRaw > 0n);

async function recoversOnce(surface: Surface, first: StreamScript, withinMs = 1_500) {
  const { asked, requests, tookMs } = await recover(surface, first);
  expect([asked, requests]).toEqual([2, 2]);
  // The client waits for half a second where it is not told otherwise; the rest is for a machine that is busy.
  expect(tookMs).toBeLessThan(withinMs);
  await expect.poll(() => world.ledger.openHolds()).toBe(0);
  expect(paid()).toHaveLength(1);
  expect(world.ledger.consumedRaw(AGENT)).toBe(paid()[0]?.costRaw);
}

describe.each(Object.entries(SURFACES))('%s', (_, surface) => {
  it.each([429, 503])(
    'the openai client recovers after the upstream’s retry-after-ms from one passing %i, and pays once',
    (status) => recoversOnce(surface, { status, headers: { 'retry-after-ms': '20' }, pieces: [] }),
  );
});

it.each([
  ['429', { status: 429, pieces: [] }],
  ['500', { status: 500, pieces: [] }],
  ['timeout of its own', { status: 408, pieces: [] }],
  ['cut', { status: 200, pieces: [], ends: 'cut' }],
] as const)(
  'the openai client’s chat recovers at once from one passing %s without a retry time, and pays once',
  (_, first) => recoversOnce(SURFACES.chat as Surface, first),
);

it('the openai client’s chat recovers from one silent upstream call after its timeout, and pays once', () => {
  const silence = { ...JSON_HEAD, pieces: [], ends: 'hang' } as const;
  // Time runs out by a clock that ticks twice a second.
  return recoversOnce(SURFACES.chat as Surface, silence, 4_000);
});

describe('what an upstream says of another try', () => {
  const failing = async (first: StreamScript, headers: Record<string, string> = {}) => {
    const { openai, sent } = countedOpenAi({
      apiKey: AGENT_KEY,
      baseURL: world.gateway.baseUrl,
      maxRetries: 0,
    });
    world.upstream.play(first);
    const wanted = { model: 'acme/fast-1', messages };
    const error = await thrownBy(openai.chat.completions.create(wanted, { headers }));
    expect(sent).toHaveLength(1);
    return error;
  };

  it('an upstream’s retry-after-ms is relayed with its failure, to the millisecond', async () => {
    for (const status of [429, 500]) {
      const headers = { 'retry-after-ms': '1234' };
      const error = await failing({ status, headers, pieces: [] });
      expect(error.headers?.get('retry-after-ms')).toBe('1234');
      expect(error.headers?.get('retry-after')).toBe('2');
      expect(error.headers?.get('x-should-retry')).toBe('true');
    }
  });

  it('an upstream’s Retry-After is relayed with its refusal, which leaves the Idempotency-Key free', async () => {
    const headers = { ...JSON_HEAD.headers, 'retry-after': '3', 'x-should-retry': 'true' };
    const conflict = { status: 409, headers, pieces: ['{"error":{"message":"locked"}}'] };
    const error = await failing(conflict, { 'idempotency-key': 'once' });
    expect([error.status, error.headers?.get('retry-after')]).toEqual([409, '3']);
    expect(error.headers?.get('x-should-retry')).toBe('true');

    world.upstream.play(wholeAnswer({ content: 'Good morning.' }));
    const { openai } = countedOpenAi({ apiKey: AGENT_KEY, baseURL: world.gateway.baseUrl });
    const options = { headers: { 'idempotency-key': 'once' } };
    await openai.chat.completions.create({ model: 'acme/fast-1', messages }, options);
    expect(paid()).toHaveLength(1);
  });
});
