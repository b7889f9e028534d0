import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeWav } from '../../media/wav.ts';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { LIBRIVOX, wordCount, wordErrors } from '../support/speech.ts';
import {
  jsonAnswer,
  type TranscriptionUpstream,
  transcriptionUpstream,
} from '../support/transcription-upstream.ts';
import { moneyOf, settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const LOCAL = 'local/pocketsphinx';
/** Raw units for a second at the local rate of 10 USD a million, and the margin of 5 %. */
const LOCAL_RAW_PER_SECOND = 10.5;
const spoken = LIBRIVOX.find(({ file }) => file.includes('0880')) ?? LIBRIVOX[0];
if (spoken === undefined) throw new Error('no recording');
const recording = readFileSync(new URL(`../vectors/speech/${spoken.file}`, import.meta.url));
const seconds = (recording.length - 44) / 32_000;

let world: WholeWorld;
let agent: FundedAgent;
let cheap: TranscriptionUpstream;
let dear: TranscriptionUpstream;
let openai: OpenAI;
const directory = mkdtempSync(join(tmpdir(), 'svc-stt-'));

beforeAll(async () => {
  cheap = await transcriptionUpstream();
  dear = await transcriptionUpstream();
  const source = (provider: string, audio_second: string) => ({
    rail: 'direct-account',
    provider,
    upstreamModel: 'ears-large',
    marginBps: 0,
    rates: { audio_second },
  });
  const catalogue = join(directory, 'catalogue.json');
  writeFileSync(
    catalogue,
    JSON.stringify({
      providers: {
        cheap: { baseUrl: cheap.baseUrl, dialect: 'openai' },
        dear: { baseUrl: dear.baseUrl, dialect: 'openai' },
      },
      models: [
        {
          id: 'acme/ears',
          modality: 'stt',
          contextWindow: null,
          sources: [source('cheap', '100'), source('dear', '200')],
        },
      ],
    }),
  );
  world = await startWorld({ CATALOG_FILE: catalogue });
  agent = await world.fund('ears');
  openai = new OpenAI({ apiKey: agent.agentKey, baseURL: `${world.url}/v1`, maxRetries: 0 });
}, 60_000);

afterAll(async () => {
  expect(await checkInvariants(world.sql)).toEqual([]);
  await world[Symbol.asyncDispose]();
  await cheap[Symbol.asyncDispose]();
  await dear[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const wav = (bytes: Uint8Array = recording) =>
  toFile(bytes, 'said "so".wav', { type: 'audio/wav' });

type Params = Partial<OpenAI.Audio.TranscriptionCreateParamsNonStreaming>;

/** Buys one transcript and tells what it cost by its receipt and by the ledger. */
async function buy(model: string, more: Params = {}, bytes?: Uint8Array) {
  const before = await moneyOf(world.sql, agent.agentId);
  const { data, response } = await openai.audio.transcriptions
    .create({ file: await wav(bytes), model, ...more })
    .withResponse();
  const after = await moneyOf(world.sql, agent.agentId);
  const told = BigInt(response.headers.get('x-svc-cost-usdc') ?? '-1');
  expect(after.charged - before.charged).toBe(told);
  expect(before.spendable - after.spendable).toBe(told);
  expect(after.held).toBe(0n);
  return { data: data as unknown, headers: response.headers, told };
}

const isWhatWasSaid = (heard: string) =>
  expect(wordErrors(spoken.text, heard.toLowerCase())).toBeLessThan(wordCount(spoken.text) / 2);

const localCost = (s: number) => BigInt(Math.ceil(s * LOCAL_RAW_PER_SECOND - 1e-9));

describe('a recording through the local recogniser', () => {
  it('a recording transcribed locally is returned as JSON with its duration, and charged by its seconds', async () => {
    const { data, headers, told } = await buy(LOCAL);
    const { text, usage } = data as OpenAI.Audio.Transcription;
    isWhatWasSaid(text);
    expect(usage).toEqual({ type: 'duration', seconds });
    expect(told).toBe(localCost(seconds));
    expect(headers.get('x-svc-model')).toBe(LOCAL);
  }, 60_000);

  it('a recording transcribed locally is returned as text and as subtitles whose times lie within the file', async () => {
    const { data: text } = await buy(LOCAL, { response_format: 'text' });
    isWhatWasSaid(text as string);
    const { data: srt } = await buy(LOCAL, { response_format: 'srt' });
    expect(srt).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n\w/);
    const { data: vtt } = await buy(LOCAL, { response_format: 'vtt' });
    expect(vtt).toMatch(/^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n\w/);
  }, 60_000);

  it('a recording transcribed locally is returned with its segments', async () => {
    const { data } = await buy(LOCAL, {
      response_format: 'verbose_json',
      timestamp_granularities: ['segment'],
    });
    const { duration, segments = [], text } = data as OpenAI.Audio.TranscriptionVerbose;
    expect(duration).toBe(seconds);
    expect(segments.map((segment) => segment.text).join(' ')).toBe(text);
    for (const { start, end } of segments) {
      expect(start).toBeLessThan(end);
      expect(end).toBeLessThanOrEqual(seconds + 0.02);
    }
  }, 60_000);

  it('a recording transcribed locally is returned as a stream that ends with the whole text, and is settled at its end', async () => {
    const before = await moneyOf(world.sql, agent.agentId);
    const stream = await openai.audio.transcriptions.create({
      file: await wav(),
      model: LOCAL,
      stream: true,
    });
    let text = '';
    let done: string | undefined;
    for await (const event of stream) {
      if (event.type === 'transcript.text.delta') text += event.delta;
      if (event.type === 'transcript.text.done') done = event.text;
    }
    isWhatWasSaid(text);
    expect(done).toBe(text);
    const after = await settledMoney(world.sql, agent.agentId);
    expect(after.charged - before.charged).toBe(localCost(seconds));
  }, 60_000);

  it('a recording of silence or a tone transcribed locally gives no words, and is charged all the same', async () => {
    const tone = Int16Array.from({ length: 19_200 }, (_, i) => 8_000 * Math.sin(i * 0.17));
    for (const pcm of [new Int16Array(19_200), tone]) {
      const { data, told } = await buy(LOCAL, {}, encodeWav(pcm, 16_000));
      expect(data).toMatchObject({ text: '' });
      expect(told).toBe(localCost(1.2));
    }
  }, 60_000);
});

/** What the client throws, with the money unmoved. */
async function refused(model: string, more: Params = {}, bytes?: Uint8Array) {
  const before = await moneyOf(world.sql, agent.agentId);
  const error = await openai.audio.transcriptions
    .create({ file: await wav(bytes), model, ...more })
    .then(() => undefined)
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OpenAI.APIError);
  expect(await moneyOf(world.sql, agent.agentId)).toEqual(before);
  return error as InstanceType<typeof OpenAI.APIError>;
}

describe('what is refused', () => {
  it('a transcription refused for an unknown or unsuited model, no audio or another language costs nothing', async () => {
    expect(await refused('acme/eyes')).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(await refused('local/guide')).toMatchObject({ status: 400, param: 'model' });
    const junk = Buffer.from('this is no sound at all');
    expect(await refused(LOCAL, {}, junk)).toMatchObject({ status: 400, param: 'file' });
    expect(await refused(LOCAL, {}, encodeWav(new Int16Array(0), 16_000))).toMatchObject({
      status: 400,
      param: 'file',
    });
    expect(await refused(LOCAL, { language: 'de' })).toMatchObject({ param: 'language' });
  });

  it('a transcription of a file whose frames cannot be decoded is refused as containing no audio', async () => {
    const adts = Buffer.from(
      Array.from({ length: 50 }, () => [0xff, 0xf1, 0x60, 0x40, 1, 0, 0xfc, 0]).flat(),
    );
    const error = await refused(LOCAL, {}, adts);
    expect(error).toMatchObject({ status: 400, param: 'file' });
    expect(error.message).toContain('holds no sound that can be decoded');
  });

  it('a transcription of a file over 25 MiB is refused with 413', async () => {
    const error = await refused(LOCAL, {}, new Uint8Array(25 * 1024 * 1024 + 1));
    expect(error).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  it('a transcription whose body is no form, lacks its file or repeats a field is refused', async () => {
    const post = (body: FormData | string) =>
      fetch(`${world.url}/v1/audio/transcriptions`, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${agent.agentKey}` },
      });
    const form = (entries: [string, string][]) => {
      const made = new FormData();
      for (const [name, value] of entries) made.append(name, value);
      return made;
    };
    const twice = form([
      ['model', LOCAL],
      ['model', LOCAL],
    ]);
    for (const body of ['{}', form([['model', LOCAL]]), form([]), twice]) {
      const response = await post(body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    }
  });
});

describe('a transcript bought from an upstream', () => {
  it("a transcript from an upstream sends the file byte for byte under the upstream's name of the model", async () => {
    const { data, told } = await buy('acme/ears', { language: 'de', temperature: 0.5 });
    expect(data).toEqual({ text: 'as told' });
    const { form, path } = cheap.seen.at(-1) ?? {};
    expect(path).toBe('/v1/audio/transcriptions');
    expect(form?.getAll('model')).toEqual(['ears-large']);
    expect([form?.get('language'), form?.get('temperature')]).toEqual(['de', '0.5']);
    const file = form?.get('file') as File;
    expect(file.type).toBe('audio/wav');
    expect(Buffer.from(await file.arrayBuffer()).equals(recording)).toBe(true);
    // 100 USD for a million seconds.
    expect(told).toBe(BigInt(Math.ceil(seconds * 100)));
  });

  it('a transcript from an upstream is charged by the duration that the upstream reports', async () => {
    cheap.script.push(jsonAnswer({ text: 'x', usage: { type: 'duration', seconds: 3 } }));
    expect((await buy('acme/ears')).told).toBe(300n);
    cheap.script.push(jsonAnswer({ text: 'x', duration: 2.5, segments: [] }));
    expect((await buy('acme/ears', { response_format: 'verbose_json' })).told).toBe(250n);
    cheap.script.push(jsonAnswer({ text: 'x', usage: { type: 'duration', seconds: 0 } }));
    expect((await buy('acme/ears')).told).toBe(BigInt(Math.ceil(seconds * 100)));
  });

  it('a transcript comes from the next source when the first upstream fails', async () => {
    cheap.script.push(jsonAnswer({}, 503));
    const { headers, told } = await buy('acme/ears');
    expect(headers.get('x-svc-attempts')).toBe('2');
    expect(told).toBe(BigInt(Math.ceil(seconds * 200)));
    cheap.script.push({ body: 'not json' });
    expect((await buy('acme/ears')).headers.get('x-svc-attempts')).toBe('2');
  });

  it('a transcript from an upstream costs nothing when the upstream refuses the file or all upstreams fail', async () => {
    cheap.script.push(jsonAnswer({ error: { message: 'too short' } }, 400));
    expect(await refused('acme/ears')).toMatchObject({ status: 400 });
    cheap.script.push(jsonAnswer({}, 500));
    dear.script.push(jsonAnswer({}, 500));
    expect(await refused('acme/ears')).toMatchObject({ status: 502, code: 'all_sources_failed' });
  });

  const EVENTS = [
    'data: {"type":"transcript.text.delta","delta":"as "}\n\n',
    'data: {"type":"transcript.text.delta","delta":"told"}\n\n',
    'data: {"type":"transcript.text.done","text":"as told","usage":{"type":"duration","seconds":2}}\n\n',
  ];
  const streamed = async () => {
    const before = await moneyOf(world.sql, agent.agentId);
    const stream = await openai.audio.transcriptions.create({
      file: await wav(),
      model: 'acme/ears',
      stream: true,
    });
    const types: string[] = [];
    const ended = await (async () => {
      for await (const event of stream) types.push(event.type);
    })().catch((error: unknown) => error);
    const after = await settledMoney(world.sql, agent.agentId);
    return { types, ended, charged: after.charged - before.charged };
  };

  it('a transcript stream from an upstream is relayed as it comes and charged by the usage at its end', async () => {
    cheap.script.push({ contentType: 'text/event-stream', body: EVENTS.join('') });
    const { charged, types } = await streamed();
    expect(types).toEqual([
      'transcript.text.delta',
      'transcript.text.delta',
      'transcript.text.done',
    ]);
    expect(charged).toBe(200n);
  });

  it('a transcript from an upstream without streaming is turned into a stream', async () => {
    const { charged, types } = await streamed();
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
    expect(charged).toBe(BigInt(Math.ceil(seconds * 100)));
  });

  it('a transcript stream that breaks off ends in an error, and is charged by the duration of the file', async () => {
    cheap.script.push({ contentType: 'text/event-stream', body: EVENTS[0] ?? '', breaks: true });
    const { charged, ended } = await streamed();
    expect(ended).toBeInstanceOf(OpenAI.APIError);
    expect(charged).toBe(BigInt(Math.ceil(seconds * 100)));
  });

  it('a transcript from an upstream is replayed under its Idempotency-Key, and bought once', async () => {
    const bought = cheap.seen.length;
    const options = { headers: { 'idempotency-key': 'the same' } };
    const params = { file: await wav(), model: 'acme/ears' };
    const first = await openai.audio.transcriptions.create(params, options);
    expect(await openai.audio.transcriptions.create(params, options)).toEqual(first);
    expect(cheap.seen.length).toBe(bought + 1);
  });
});
