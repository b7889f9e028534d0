import { readFileSync } from 'node:fs';
import { createOpenAI } from '@ai-sdk/openai';
import { experimental_generateSpeech, experimental_transcribe } from 'ai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeSound } from '../support/decode-sound.ts';
import { startWorld, type WholeWorld } from '../support/whole-world.ts';

const FOLDER = new URL('../vectors/speech/', import.meta.url);
const recording = readFileSync(new URL('librivox-0930.wav', FOLDER));
const SECONDS = (recording.length - 44) / 32_000;

let world: WholeWorld;
let openai: OpenAI;
let vercel: ReturnType<typeof createOpenAI>;
beforeAll(async () => {
  world = await startWorld();
  const { agentKey: apiKey } = await world.fund('rich');
  const baseURL = `${world.url}/v1`;
  openai = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
  vercel = createOpenAI({ apiKey, baseURL });
});
afterAll(() => world[Symbol.asyncDispose]());

const heardBy = (timestampGranularities?: ('word' | 'segment')[]) =>
  experimental_transcribe({
    model: vercel.transcription('local/pocketsphinx'),
    audio: recording,
    providerOptions: { openai: timestampGranularities ? { timestampGranularities } : {} },
    maxRetries: 0,
  });

describe('sound of this server for a client that asks as its vendor documents', () => {
  it('the AI SDK reads a local transcription with its segments, and with its words on request', async () => {
    const whole = await heardBy();
    expect(whole.text).toContain('amiable');
    expect(whole.language).toBe('en');
    expect(whole.durationInSeconds).toBeCloseTo(SECONDS, 1);
    expect(whole.segments).toHaveLength(1);
    const { segments: words, text } = await heardBy(['word']);
    expect(words.map((word) => word.text).join(' ')).toBe(text);
    expect(words.length).toBeGreaterThan(4);
    for (const { startSecond, endSecond } of words) {
      expect(startSecond).toBeGreaterThanOrEqual(0);
      expect(endSecond).toBeGreaterThan(startSecond);
      expect(endSecond).toBeLessThanOrEqual(SECONDS + 0.1);
    }
  });

  it('the openai client reads a local transcription with every member of a segment, and with words', async () => {
    const heard = await openai.audio.transcriptions.create({
      model: 'local/pocketsphinx',
      file: await toFile(recording, 'said.wav'),
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    });
    expect(heard).toMatchObject({ task: 'transcribe', language: 'english' });
    expect(heard.words?.map(({ word }) => word).join(' ')).toBe(heard.text);
    const [segment] = heard.segments ?? [];
    expect(Object.keys(segment ?? {}).sort()).toEqual([
      'avg_logprob',
      'compression_ratio',
      'end',
      'id',
      'no_speech_prob',
      'seek',
      'start',
      'temperature',
      'text',
      'tokens',
    ]);
    expect(segment?.start).toBeLessThanOrEqual((heard.words?.[0]?.start ?? 0) + 0.05);
    expect(segment?.end).toBeGreaterThanOrEqual((heard.words?.at(-1)?.end ?? 0) - 0.3);
  });

  it('the AI SDK gets local speech in its default format, mp3', async () => {
    const { audio } = await experimental_generateSpeech({
      model: vercel.speech('local/flite'),
      text: 'Good morning, everybody.',
      voice: 'alloy',
      maxRetries: 0,
    });
    expect(audio.mediaType).toBe('audio/mpeg');
    const { codec, samples } = await decodeSound(audio.uint8Array);
    expect([codec, samples.length > 24_000]).toEqual(['mp3', true]);
  });
});
