import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AnthropicUpstream,
  anthropicUpstream,
  errorOf,
  messageOf,
} from '../support/anthropic-upstream.ts';
import { type OpenAiUpstream, openAiUpstream } from '../support/openai-upstream.ts';
import { LIBRIVOX } from '../support/speech.ts';
import { noise, type SpeechUpstream, speechUpstream } from '../support/speech-upstream.ts';
import {
  DONE,
  type StreamUpstream,
  streamUpstream,
  usageEvent,
  wordEvents,
} from '../support/stream-upstream.ts';
import {
  jsonAnswer,
  type TranscriptionUpstream,
  transcriptionUpstream,
} from '../support/transcription-upstream.ts';
import { startWorld, type WholeWorld } from '../support/whole-world.ts';

const HEADER = 'x-svc-ratelimit-advisory';
const KEY = 'sk-upstream';
const messages = [{ role: 'user' as const, content: 'Good morning?' }];
const recording = readFileSync(
  new URL(`../vectors/speech/${LIBRIVOX[0]?.file ?? ''}`, import.meta.url),
);

const TOLD = {
  'x-ratelimit-limit-requests': '60',
  'x-ratelimit-remaining-requests': '59',
  'x-ratelimit-reset-requests': '1s',
  'x-ratelimit-limit-tokens': '150000',
  'x-ratelimit-remaining-tokens': '15000',
  'x-ratelimit-reset-tokens': '6m0s',
};
const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const TIGHTEST = {
  tightest: { kind: 'tokens', remaining: 15_000, limit: 150_000, used_bps: 9_000, resets_at: ISO },
  headroom: 15_000,
};

/** Peers of every kind; the server is told of them by its catalogue file. */
type Peers = {
  readonly cheap: OpenAiUpstream;
  readonly dear: OpenAiUpstream;
  readonly streams: StreamUpstream;
  readonly voice: SpeechUpstream;
  readonly ears: TranscriptionUpstream;
  readonly claude: AnthropicUpstream;
};

let peers: Peers;
const directory = mkdtempSync(join(tmpdir(), 'svc-advisory-'));
const catalogue = join(directory, 'catalogue.json');

beforeAll(async () => {
  peers = {
    cheap: await openAiUpstream(),
    dear: await openAiUpstream(),
    streams: await streamUpstream(),
    voice: await speechUpstream(),
    ears: await transcriptionUpstream(),
    claude: await anthropicUpstream(KEY),
  };
  const source = (provider: string, rates: object) => ({
    rail: 'direct-account',
    provider,
    upstreamModel: 'vendor',
    rates,
  });
  const chat = (provider: string, rate = '1') =>
    source(provider, { text_input_token: rate, text_output_token: rate });
  const model = (id: string, modality: string, ...sources: object[]) => ({
    id: `acme/${id}`,
    modality,
    contextWindow: null,
    sources,
  });
  writeFileSync(
    catalogue,
    JSON.stringify({
      providers: Object.fromEntries(
        Object.entries(peers).map(([id, { baseUrl }]) => [
          id,
          { baseUrl, apiKeyEnv: 'UP_KEY', dialect: id === 'claude' ? 'anthropic' : 'openai' },
        ]),
      ),
      models: [
        model('alone', 'text', chat('cheap')),
        model('spared', 'text', chat('cheap'), chat('dear', '2')),
        model('streamed', 'text', chat('streams')),
        model('claude', 'text', chat('claude')),
        model('vectors', 'embedding', source('cheap', { text_input_token: '1' })),
        model('voice', 'tts', source('voice', { character: '1' })),
        model('ears', 'stt', source('ears', { audio_second: '1' })),
      ],
    }),
  );
});

afterAll(async () => {
  await Promise.all(Object.values(peers).map((peer) => peer[Symbol.asyncDispose]()));
  rmSync(directory, { recursive: true });
});

const advisoryOf = (headers: Headers) =>
  JSON.parse(headers.get(HEADER) ?? 'null') as Record<string, unknown> | null;

async function startTold(environment: Record<string, string>) {
  const world = await startWorld(
    { CATALOG_FILE: catalogue, ...environment },
    { secret: (name) => (name === 'UP_KEY' ? KEY : undefined) },
  );
  const { agentKey } = await world.fund('asks');
  const baseURL = `${world.url}/v1`;
  const openai = new OpenAI({ apiKey: agentKey, baseURL, maxRetries: 0 });
  const chat = (model: string) =>
    fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agentKey}` },
      body: JSON.stringify({ model: `acme/${model}`, messages }),
    });
  return { world, openai, chat };
}

/** Answers of every kind that the peers give well, by what was asked for. */
async function everyAnswer(openai: OpenAI): Promise<Record<string, Response>> {
  const { audio, chat, embeddings } = openai;
  const file = await toFile(recording, 'said.wav', { type: 'audio/wav' });
  peers.cheap.headers = TOLD;
  peers.streams.play({ headers: TOLD, pieces: [...wordEvents(['Good.']), usageEvent(), DONE] });
  peers.voice.plays.push((response) => {
    response.writeHead(200, { 'content-type': 'audio/mpeg', ...TOLD });
    response.end(noise(4_096));
  });
  peers.ears.script.push({ ...jsonAnswer({ text: 'as told' }), headers: TOLD });
  const done = { type: 'transcript.text.done', text: 'as told' };
  peers.ears.script.push({
    contentType: 'text/event-stream',
    headers: TOLD,
    body: `data: ${JSON.stringify(done)}\n\ndata: [DONE]\n\n`,
  });
  return {
    chat: await chat.completions.create({ model: 'acme/alone', messages }).asResponse(),
    stream: await chat.completions
      .create({ model: 'acme/streamed', messages, stream: true })
      .asResponse(),
    vectors: await embeddings.create({ model: 'acme/vectors', input: 'Good.' }).asResponse(),
    speech: await audio.speech.create({ model: 'acme/voice', input: 'Good.', voice: 'alloy' }),
    transcript: await audio.transcriptions.create({ model: 'acme/ears', file }).asResponse(),
    heard: await audio.transcriptions
      .create({ model: 'acme/ears', file, stream: true })
      .asResponse(),
  };
}

describe('the rate-limit advisory of an answer', () => {
  let world: WholeWorld;
  let openai: OpenAI;
  let chat: (model: string) => Promise<Response>;
  beforeAll(async () => {
    ({ world, openai, chat } = await startTold({
      RATELIMIT_ADVISORY_ENABLED: '1',
      RATELIMIT_ADVISORY_NEAR_LIMIT_BPS: '9000',
    }));
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(() => {
    for (const peer of [peers.cheap, peers.dear]) peer.headers = {};
  });

  it('the rate-limit advisory is the same for every modality, whole and streamed, and an SDK can read it', async () => {
    const provider = { chat: 'cheap', vectors: 'cheap', stream: 'streams', speech: 'voice' };
    for (const [what, answer] of Object.entries(await everyAnswer(openai))) {
      expect([what, advisoryOf(answer.headers)]).toEqual([
        what,
        {
          near_limit: true,
          shared: true,
          ...TIGHTEST,
          provider: { ...provider, transcript: 'ears', heard: 'ears' }[what],
        },
      ]);
      expect(answer.headers.get('access-control-expose-headers')).toContain(HEADER);
      for (const name of Object.keys(TOLD)) expect(answer.headers.get(name)).toBeNull();
      await answer.arrayBuffer();
    }
    const { response } = await openai.chat.completions
      .create({ model: 'acme/alone', messages })
      .withResponse();
    expect(advisoryOf(response.headers)).toMatchObject({ provider: 'cheap', ...TIGHTEST });
  });

  it("the rate-limit advisory is read from Anthropic's headers too, and is on a relayed refusal", async () => {
    const reset = new Date(Date.now() + 30_000).toISOString();
    const headers = {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': reset,
      'anthropic-ratelimit-input-tokens-limit': '40000',
      'anthropic-ratelimit-input-tokens-remaining': '30000',
      'anthropic-ratelimit-input-tokens-reset': reset,
    };
    const told = {
      near_limit: false,
      provider: 'claude',
      shared: true,
      headroom: 30_000,
      tightest: {
        kind: 'input_tokens',
        remaining: 30_000,
        limit: 40_000,
        used_bps: 2_500,
        resets_at: reset,
      },
    };
    const content = [{ type: 'text', text: 'Good.' }];
    peers.claude.replies.push({ headers, body: messageOf(content) });
    expect(advisoryOf((await chat('claude')).headers)).toEqual(told);
    const body = errorOf('invalid_request_error', 'too long');
    peers.claude.replies.push({ headers, status: 400, body });
    const refused = await chat('claude');
    expect([refused.status, refused.headers.get('x-svc-payment')]).toEqual([400, 'passthrough']);
    expect(advisoryOf(refused.headers)).toEqual(told);
  });

  it('the rate-limit advisory gives the waiting time when every source has failed and one reported it', async () => {
    peers.cheap.faults.push({ kind: 'status', status: 429, headers: { 'retry-after': '17' } });
    peers.dear.faults.push({ kind: 'status', status: 500 });
    const failed = await chat('spared');
    expect(await failed.json()).toMatchObject({ error: { code: 'all_sources_failed' } });
    expect(failed.status).toBe(502);
    expect(failed.headers.get('x-should-retry')).toBe('true');
    expect(failed.headers.get('retry-after')).toBe('17');
    const wait = { near_limit: true, shared: true, retry_after_seconds: 17 };
    expect(advisoryOf(failed.headers)).toEqual({ provider: 'cheap', ...wait });

    const date = new Date(Date.now() + 60_000).toUTCString();
    const headers = { ...TOLD, 'retry-after': date };
    peers.cheap.faults.push({ kind: 'status', status: 429, headers });
    const late = advisoryOf((await chat('alone')).headers);
    expect(late).toMatchObject({ provider: 'cheap', ...TIGHTEST });
    expect(late?.retry_after_seconds).toBeGreaterThan(50);
    expect(late?.retry_after_seconds).toBeLessThanOrEqual(60);
  });

  it('the rate-limit advisory is that of the source that served, and not of a failed one', async () => {
    peers.cheap.faults.push({ kind: 'status', status: 429, headers: { 'retry-after': '17' } });
    peers.dear.headers = TOLD;
    const served = await chat('spared');
    expect([served.status, served.headers.get('x-svc-attempts')]).toEqual([200, '2']);
    expect(advisoryOf(served.headers)).toEqual({
      near_limit: true,
      provider: 'dear',
      shared: true,
      ...TIGHTEST,
    });
  });

  it('the rate-limit advisory is absent when the upstream reports no plausible limits', async () => {
    for (const odd of ['-1', 'NaN', '9'.repeat(10_000), ['5', '5'], 'no\tnumber']) {
      peers.cheap.headers = { 'x-ratelimit-remaining-tokens': odd };
      const answer = await chat('alone');
      expect([answer.status, answer.headers.get(HEADER)]).toEqual([200, null]);
    }
    peers.cheap.headers = {};
    expect((await chat('alone')).headers.get(HEADER)).toBeNull();
    peers.cheap.faults.push({ kind: 'status', status: 500 });
    const failed = await chat('alone');
    expect([failed.status, failed.headers.get(HEADER)]).toEqual([502, null]);
  });
});

describe('the rate-limit advisory that is switched off', () => {
  it('the rate-limit advisory, when switched off, is absent from every response', async () => {
    const { world, openai, chat } = await startTold({});
    await using _ = world;
    const answers = Object.values(await everyAnswer(openai));
    peers.cheap.faults.push({ kind: 'status', status: 429, headers: { 'retry-after': '17' } });
    peers.cheap.faults.push({ kind: 'status', status: 404, headers: { ...TOLD } });
    answers.push(await chat('alone'), await chat('alone'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 429, 404]);
    for (const answer of answers) {
      expect([...answer.headers].flat().join()).not.toContain('advisory');
      await answer.arrayBuffer();
    }
    peers.cheap.headers = TOLD;
    const told = await chat('alone');
    peers.cheap.headers = {};
    const untold = await chat('alone');
    const names = ({ headers }: Response) => [...headers.keys()];
    expect(names(told)).toEqual(names(untold));
  });
});
