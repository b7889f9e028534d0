import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeWav } from '../../../media/wav.ts';
import type { TranscriptFormat } from '../../../src/models/providers/transcription-rail.ts';
import { thrownBy } from '../../support/counted-openai.ts';
import { noise } from '../../support/speech-upstream.ts';
import { type StreamWorld, streamWorld } from '../../support/stream-world.ts';

const EARS = 'acme/ears-1';
const directory = mkdtempSync(join(tmpdir(), 'svc-sound-'));
const recording = join(directory, 'said.wav');
/** 1.2 seconds at 100 dollars a million, and five per cent. */
const BY_THE_FILE = 126n;
/** 1.6 seconds, as the upstream says: more than the file's, and within the whole seconds that it can come to. */
const BY_ITS_WORD = 168n;

let charged: StreamWorld['charged'];
let upstream: StreamWorld['upstream'];
let openai: OpenAI;

beforeAll(async () => {
  await writeFile(recording, encodeWav(new Int16Array(19_200), 16_000));
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(async () => {
  const world = await streamWorld();
  ({ charged, upstream } = world);
  ({ openai } = world.gateway);
  return () => world[Symbol.asyncDispose]();
});

describe('audio.speech of the openai client', () => {
  it('the openai client writes streamed speech to a file, byte for byte', async () => {
    const sound = noise(300_000);
    const pieces = Array.from({ length: 30 }, (_, i) => sound.subarray(i * 1e4, (i + 1) * 1e4));
    upstream.play({ headers: { 'content-type': 'audio/mpeg' }, pieces });
    const wanted = { model: 'acme/voice-1', voice: 'alloy', input: 'Good day.' };
    const streamed = await openai.audio.speech.create(wanted);
    const file = join(directory, 'spoken.mp3');
    await pipeline(Readable.fromWeb(streamed.body as ReadableStream), createWriteStream(file));
    expect(readFileSync(file).equals(sound)).toBe(true);

    const { data, response } = await openai.audio.speech.create(wanted).withResponse();
    await writeFile(file, Buffer.from(await data.arrayBuffer()));
    expect(readFileSync(file).equals(sound)).toBe(true);
    const told = BigInt(response.headers.get('x-svc-cost-usdc') ?? '-1');
    expect(await charged()).toBe(2n * told);
  });
});

const WORDS = { text: 'as told' };
const DURATION = { usage: { type: 'duration', seconds: 1.6 } };
const SEGMENT = { id: 'seg_1', type: 'transcript.text.segment', start: 0, end: 1, text: 'as told' };
const SPOKEN = { ...SEGMENT, speaker: 'A' };
const JSON_TYPE = 'application/json';

const ANSWERS: readonly [TranscriptFormat, string, string | object, bigint][] = [
  ['json', JSON_TYPE, { ...WORDS, ...DURATION }, BY_ITS_WORD],
  [
    'verbose_json',
    JSON_TYPE,
    { ...WORDS, duration: 1.6, language: 'en', segments: [] },
    BY_ITS_WORD,
  ],
  ['diarized_json', JSON_TYPE, { ...WORDS, ...DURATION, segments: [SPOKEN] }, BY_ITS_WORD],
  ['text', 'text/plain', 'as told\n', BY_THE_FILE],
  ['srt', 'text/plain', '1\n00:00:00,000 --> 00:00:01,000\nas told\n', BY_THE_FILE],
  ['vtt', 'text/vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\nas told\n', BY_THE_FILE],
];

describe('audio.transcriptions of the openai client', () => {
  it.each(ANSWERS)(
    'the openai client gets a transcription in %s as its upstream wrote it',
    async (format, type, answer, price) => {
      const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
      upstream.play({ headers: { 'content-type': type }, pieces: [body] });
      const { data, response } = await openai.audio.transcriptions
        .create({ file: createReadStream(recording), model: EARS, response_format: format })
        .withResponse();
      expect(data).toEqual(answer);
      expect(response.headers.get('content-type')).toContain(type);
      expect(response.headers.get('x-svc-cost-usdc')).toBe(String(price));
      expect(upstream.seen.at(-1)).toMatchObject({ model: 'vendor', response_format: format });
      expect(await charged()).toBe(price);
    },
  );

  it('the openai client’s transcription forwards every option of the client', async () => {
    upstream.play({ headers: { 'content-type': JSON_TYPE }, pieces: [JSON.stringify(WORDS)] });
    await openai.audio.transcriptions.create({
      file: createReadStream(recording),
      model: EARS,
      language: 'de',
      prompt: 'Gruß',
      response_format: 'diarized_json',
      temperature: 0.2,
      chunking_strategy: 'auto',
      include: ['logprobs'],
      timestamp_granularities: ['word', 'segment'],
      known_speaker_names: ['Ann', 'Ben'],
      known_speaker_references: ['data:a', 'data:b'],
    });
    expect(upstream.seen.at(-1)).toMatchObject({
      language: 'de',
      prompt: 'Gruß',
      temperature: '0.2',
      chunking_strategy: 'auto',
      'include[]': 'logprobs',
      'timestamp_granularities[]': 'segment',
      'known_speaker_names[]': 'Ben',
      'known_speaker_references[]': 'data:b',
    });
  });

  const DELTA = { type: 'transcript.text.delta', delta: 'as told' };
  const DONE = { type: 'transcript.text.done', ...WORDS, ...DURATION };
  const eventOf = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

  it.each([
    ['json', [DELTA, DELTA, DONE]],
    ['diarized_json', [DELTA, SPOKEN, DONE]],
  ] as const)(
    'the openai client gets a transcription as a stream of events in %s',
    async (format, events) => {
      upstream.play({ pieces: events.map(eventOf) });
      const stream = await openai.audio.transcriptions.create({
        file: createReadStream(recording),
        model: EARS,
        stream: true,
        response_format: format,
      });
      const heard: unknown[] = [];
      for await (const event of stream) heard.push(event);
      expect(heard).toEqual(events);
      expect(upstream.seen.at(-1)).toMatchObject({ stream: 'true', response_format: format });
      expect(await charged()).toBe(BY_ITS_WORD);
    },
  );

  it('the openai client throws when its transcription stream breaks off, after the text that arrived', async () => {
    upstream.play({ pieces: [eventOf(DELTA)], ends: 'cut' });
    const stream = await openai.audio.transcriptions.create({
      file: createReadStream(recording),
      model: EARS,
      stream: true,
    });
    const heard: unknown[] = [];
    const read = async () => {
      for await (const event of stream) heard.push(event);
    };
    expect(await thrownBy(read())).toMatchObject({ code: 'upstream_broke_off' });
    expect(heard).toEqual([DELTA]);
    expect(await charged()).toBe(BY_THE_FILE);
  });

  it('the openai client throws its own error classes for a bad file or model of a transcription, at no cost', async () => {
    const junk = await OpenAI.toFile(Buffer.from('no sound'), 'x.wav');
    const wanted = { file: junk, model: EARS };
    const error = await thrownBy(openai.audio.transcriptions.create(wanted));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_request', param: 'file' });
    const unknown = openai.audio.transcriptions.create({ ...wanted, model: 'acme/none' });
    expect(await thrownBy(unknown)).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await charged()).toBe(0n);
  });
});
