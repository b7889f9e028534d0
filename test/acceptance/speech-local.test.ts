import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PcmByteReader, rms } from '../../media/pcm.ts';
import { parseWav, wavSamples } from '../../media/wav.ts';
import type { FundedAgent } from '../../src/commands/demo/fund-agent.ts';
import { moneyOf, startWorld, type WholeWorld } from '../support/whole-world.ts';

const SENTENCE = 'The quick brown fox jumps over the lazy dog, and nobody minds.';
const directory = mkdtempSync(join(tmpdir(), 'svc-speech-'));

let world: WholeWorld;
let rich: FundedAgent;
let openai: OpenAI;
beforeAll(async () => {
  world = await startWorld();
  rich = await world.fund('rich');
  openai = new OpenAI({ apiKey: rich.agentKey, baseURL: `${world.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

type Wish = Partial<OpenAI.Audio.Speech.SpeechCreateParams>;

async function bought(wish: Wish) {
  const before = await moneyOf(world.sql, rich.agentId);
  const response = await openai.audio.speech.create({
    ...{ model: 'local/flite', input: SENTENCE, voice: 'alloy' },
    ...wish,
  });
  const path = join(directory, 'speech');
  await writeFile(path, Buffer.from(await response.arrayBuffer()));
  const after = await moneyOf(world.sql, rich.agentId);
  const cost = BigInt(response.headers.get('x-svc-cost-usdc') ?? '-1');
  expect(cost).toBeGreaterThan(0n);
  expect(after.charged - before.charged).toBe(cost);
  expect(before.spendable - after.spendable).toBe(cost);
  expect(after.held).toBe(0n);
  return { response, cost, file: readFileSync(path) };
}

function samplesOf(pcm: Uint8Array): Int16Array {
  const reader = new PcmByteReader();
  const samples = new Int16Array(reader.samplesIn(pcm.length));
  reader.push(pcm, samples);
  expect(reader.pendingBytes).toBe(0);
  return samples;
}

/** People take four to six seconds for this sentence; loudness tells it from silence and from noise at full scale. */
function expectSpeech(samples: Int16Array): void {
  const seconds = samples.length / 24_000;
  expect(seconds).toBeGreaterThan(2.5);
  expect(seconds).toBeLessThan(8);
  expect(rms(samples)).toBeGreaterThan(300);
  expect(rms(samples)).toBeLessThan(16_000);
}

describe('local/flite through the openai client', () => {
  it('writes a WAV file that says its true length, and costs what the ledger took', async () => {
    const { response, cost, file } = await bought({ response_format: 'wav' });
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(response.headers.get('x-svc-payment')).toBe('gateway');
    expect(response.headers.get('x-svc-model')).toBe('local/flite');
    expect(response.headers.get('x-svc-rail')).toBe('self-host');
    // A dollar for a million characters, and the margin.
    expect(cost).toBe(BigInt(Math.ceil(SENTENCE.length * 1.05)));
    const wav = parseWav(file);
    if (wav.kind === 'refused') throw new Error(wav.reason);
    expect(wav).toMatchObject({ sampleRateHz: 24_000, channels: 1, truncated: false });
    expect(file.readUInt32LE(40)).toBe(file.length - 44);
    expectSpeech(wavSamples(wav));
  });

  it('sends the same sound as pcm', async () => {
    const { response, file } = await bought({ response_format: 'pcm' });
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    const samples = samplesOf(file);
    expectSpeech(samples);
    const wav = await bought({ response_format: 'wav' });
    expect(file.equals(wav.file.subarray(44))).toBe(true);
  });

  it('answers WAV where no format is named, since mp3 cannot be made here', async () => {
    const { response, file } = await bought({});
    expect(response.headers.get('content-type')).toBe('audio/wav');
    expect(file.subarray(0, 4).toString('latin1')).toBe('RIFF');
  });

  it('speaks faster when told so', async () => {
    const slow = await bought({ response_format: 'pcm' });
    const fast = await bought({ response_format: 'pcm', speed: 2 });
    expect(fast.file.length).toBeLessThan(0.7 * slow.file.length);
  });

  it('sends events whose sound is the same', async () => {
    const plain = await bought({ response_format: 'pcm' });
    const { response, file } = await bought({ response_format: 'pcm', stream_format: 'sse' });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const events = file
      .toString('utf8')
      .split('\n\n')
      .filter((text) => text.startsWith('data: '))
      .map((text) => JSON.parse(text.slice(6)) as { type: string; audio?: string; usage?: object });
    const deltas = events.filter(({ type }) => type === 'speech.audio.delta');
    const sound = Buffer.concat(deltas.map(({ audio }) => Buffer.from(audio ?? '', 'base64')));
    expect(sound.equals(plain.file)).toBe(true);
    expect(events.at(-1)).toMatchObject({
      type: 'speech.audio.done',
      usage: { characters: SENTENCE.length, estimated: true },
    });
  });

  it.each(['mp3', 'opus', 'aac', 'flac'] as const)(
    'refuses %s with the names of what can be had, uncharged',
    async (response_format) => {
      const before = await moneyOf(world.sql, rich.agentId);
      const thrown = await openai.audio.speech
        .create({ model: 'local/flite', input: 'Hello.', voice: 'alloy', response_format })
        .catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
      expect(thrown).toMatchObject({ code: 'invalid_request', param: 'response_format' });
      expect((thrown as Error).message).toContain('wav and pcm');
      expect(await moneyOf(world.sql, rich.agentId)).toEqual(before);
    },
  );

  it('refuses a text without a sound, and costs nothing', async () => {
    const before = await moneyOf(world.sql, rich.agentId);
    const thrown = await openai.audio.speech
      .create({ model: 'local/flite', input: '…!', voice: 'alloy' })
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
    expect(thrown).toMatchObject({ param: 'input' });
    const { held, spendable } = await moneyOf(world.sql, rich.agentId);
    expect([held, spendable]).toEqual([0n, before.spendable]);
  });

  it('speaks the longest text that there may be, and no longer one', async () => {
    const longest = 'All work and no play. '.repeat(200).slice(0, 4_096);
    const { cost, file } = await bought({ input: longest, response_format: 'wav' });
    expect(cost).toBe(BigInt(Math.ceil(4_096 * 1.05)));
    const wav = parseWav(file);
    if (wav.kind === 'refused') throw new Error(wav.reason);
    expect(wav.data.length / 48_000).toBeGreaterThan(120);
    await expect(bought({ input: `${longest}!` })).rejects.toThrow(/4096/);
  });
});
