import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { systemRandom } from '../../../../../src/kernel/random.ts';
import { createOpenAiTranscriptionRail } from '../../../../../src/models/providers/openai/openai-transcription.ts';
import type {
  TranscriptionCall,
  TranscriptionRail,
} from '../../../../../src/models/providers/transcription-rail.ts';
import {
  jsonAnswer,
  type TranscriptionUpstream,
  transcriptionUpstream,
} from '../../../../support/transcription-upstream.ts';

let upstream: TranscriptionUpstream;
let rail: TranscriptionRail & AsyncDisposable;
beforeAll(async () => {
  upstream = await transcriptionUpstream();
  const { baseUrl } = upstream;
  rail = createOpenAiTranscriptionRail({
    upstream: { baseUrl, apiKey: 'secret' },
    clock: systemClock,
    random: systemRandom,
  });
});
afterAll(async () => {
  await rail[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i & 255));
const call = (more: Partial<TranscriptionCall> = {}): TranscriptionCall => ({
  model: 'ears',
  format: 'json',
  language: undefined,
  prompt: undefined,
  file: { name: 'a.ogg', contentType: undefined, bytes, durationMs: 1_000 },
  fields: [['timestamp_granularities[]', 'word']],
  ...more,
});
const stays = () => new AbortController().signal;

describe('a transcription in the OpenAI dialect', () => {
  it('an OpenAI transcription rail sends a form with the upstream’s model name and every byte of the file', async () => {
    await rail.transcribe(call(), stays());
    const form = upstream.seen.at(-1)?.form;
    expect(form?.get('model')).toBe('ears');
    expect(form?.get('timestamp_granularities[]')).toBe('word');
    const file = form?.get('file') as File;
    expect([file.name, file.type]).toEqual(['a.ogg', 'application/octet-stream']);
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('an OpenAI transcription rail sends the language as a list to a model that takes several', async () => {
    const fields = [['language', 'de']] as const;
    const formOf = async (model: string) => {
      await rail.transcribe(call({ model, fields }), stays());
      const form = upstream.seen.at(-1)?.form;
      return [form?.get('language'), form?.getAll('languages[]')];
    };
    expect(await formOf('gpt-transcribe')).toEqual([null, ['de']]);
    expect(await formOf('whisper-1')).toEqual(['de', []]);
  });

  it('an OpenAI transcription rail returns the transcript unchanged with its reported usage', async () => {
    const body = { text: 'x', usage: { seconds: 2 } };
    for (const format of ['json', 'verbose_json', 'diarized_json'] as const) {
      upstream.script.push(jsonAnswer(body));
      const outcome = await rail.transcribe(call({ format }), stays());
      expect(outcome).toMatchObject({ kind: 'completed', usage: { seconds: 2 } });
      expect(outcome.kind === 'completed' && String(outcome.body)).toBe(JSON.stringify(body));
    }
    upstream.script.push({ contentType: 'text/plain', body: 'plain words' });
    expect(await rail.transcribe(call({ format: 'text' }), stays())).toMatchObject({
      kind: 'completed',
      contentType: 'text/plain',
      usage: { seconds: null },
    });
  });

  it('an OpenAI transcription rail fails on a response without a transcript and relays a refusal', async () => {
    for (const body of ['nothing', '[]', '{"text":1}']) {
      upstream.script.push({ body }, { body });
      expect(await rail.transcribe(call(), stays())).toMatchObject({ failure: 'broken' });
      expect(await rail.stream(call(), stays())).toMatchObject({ failure: 'broken' });
    }
    upstream.script.push(jsonAnswer({}, 400), jsonAnswer({}, 400), jsonAnswer({}, 429));
    expect(await rail.transcribe(call(), stays())).toMatchObject({ kind: 'declined', status: 400 });
    expect(await rail.stream(call(), stays())).toMatchObject({ kind: 'declined', status: 400 });
    expect(await rail.stream(call(), stays())).toMatchObject({ failure: 'rate_limited' });
  });

  it('an OpenAI transcription rail fails when a stream ends before its first event', async () => {
    upstream.script.push({ contentType: 'text/event-stream', body: 'data: [DONE]\n\n' });
    expect(await rail.stream(call(), stays())).toMatchObject({ failure: 'broken' });
  });
});
