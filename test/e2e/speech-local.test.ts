import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PcmByteReader } from '../../media/pcm.ts';
import { parseWav, wavSamples } from '../../media/wav.ts';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { decodeSound } from '../support/decode-sound.ts';
import { rms } from '../support/rms.ts';
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

async function bought(wanted: Wish) {
  const before = await moneyOf(world.sql, rich.agentId);
  const response = await openai.audio.speech.create({
    model: 'local/flite',
    input: SENTENCE,
    voice: 'alloy',
    ...wanted,
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

const BIN_MS = 20;

/** How loud each fiftieth of a second is. */
function loudness(samples: Int16Array, sampleRateHz: number): number[] {
  const step = (sampleRateHz * BIN_MS) / 1_000;
  return Array.from({ length: Math.floor(samples.length / step) }, (_, i) =>
    rms(samples.subarray(i * step, (i + 1) * step)),
  );
}

/** The correlation of two courses, over what both have of them. */
function likeness(a: readonly number[], b: readonly number[]): number {
  const length = Math.min(a.length, b.length);
  const levelled = (all: readonly number[]) => {
    const middle = all.slice(0, length).reduce((sum, x) => sum + x, 0) / length;
    return all.slice(0, length).map((x) => x - middle);
  };
  const [left, right] = [levelled(a), levelled(b)];
  const product = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0);
  return product(left, right) / Math.sqrt(product(left, left) * product(right, right));
}

/** Encoders are up to 120 ms behind. */
const bestLikeness = (read: readonly number[], said: readonly number[]): number =>
  Math.max(...Array.from({ length: 7 }, (_, late) => likeness(read.slice(late), said)));

describe('local/flite through the openai client', () => {
  it('local/flite writes a WAV file with its true length, at the price that the ledger charges', async () => {
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

  it('local/flite sends the same audio as pcm', async () => {
    const { response, file } = await bought({ response_format: 'pcm' });
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    const samples = samplesOf(file);
    expectSpeech(samples);
    const wav = await bought({ response_format: 'wav' });
    expect(file.equals(wav.file.subarray(44))).toBe(true);
  });

  it('local/flite answers mp3 when no format is named, as the vendor does', async () => {
    const { response, file } = await bought({});
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    expect(await decodeSound(file)).toMatchObject({ codec: 'mp3', sampleRateHz: 24_000 });
  });

  it.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/ogg'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
  ] as const)(
    'local/flite writes %s that other decoders read as the same speech, at the same price',
    async (format, type) => {
      const { cost, file: pcm } = await bought({ response_format: 'pcm' });
      const { cost: encodedCost, file, response } = await bought({ response_format: format });
      expect(response.headers.get('content-type')).toBe(type);
      expect(encodedCost).toBe(cost);
      expect(file.length).toBeLessThan(0.7 * pcm.length);
      const said = samplesOf(pcm);
      const read = await decodeSound(file);
      expect(read.codec).toContain(format);
      const seconds = read.samples.length / read.sampleRateHz;
      expect(Math.abs(seconds - said.length / 24_000)).toBeLessThan(0.15);
      expect(rms(read.samples) / rms(said)).toBeGreaterThan(0.9);
      expect(rms(read.samples) / rms(said)).toBeLessThan(1.1);
      // Where the speech is loud and where it pauses.
      const heard = loudness(read.samples, read.sampleRateHz);
      expect(bestLikeness(heard, loudness(said, 24_000))).toBeGreaterThan(0.95);
    },
  );

  it('local/flite speaks faster on request', async () => {
    const slow = await bought({ response_format: 'pcm' });
    const fast = await bought({ response_format: 'pcm', speed: 2 });
    expect(fast.file.length).toBeLessThan(0.7 * slow.file.length);
  });

  it('local/flite sends server-sent events with the same audio', async () => {
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

  it.each(['mp3', 'opus', 'aac'] as const)(
    'local/flite sends %s while it is still being made',
    async (response_format) => {
      const longest = 'All work and no play. '.repeat(200).slice(0, 4_000);
      const response = await openai.audio.speech.create({
        model: 'local/flite',
        input: longest,
        voice: 'alloy',
        response_format,
      });
      const reader = response.body?.getReader();
      if (reader === undefined) throw new Error('there is no body');
      const first = await reader.read();
      expect(first.done).toBe(false);
      // A file of three minutes has half a megabyte at the least.
      expect(first.value?.length).toBeLessThan(100_000);
      await reader.cancel();
    },
  );

  it('local/flite refuses a text without anything to speak, and charges nothing', async () => {
    const before = await moneyOf(world.sql, rich.agentId);
    const thrown = await openai.audio.speech
      .create({ model: 'local/flite', input: '…!', voice: 'alloy' })
      .catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
    expect(thrown).toMatchObject({ param: 'input' });
    const { held, spendable } = await moneyOf(world.sql, rich.agentId);
    expect([held, spendable]).toEqual([0n, before.spendable]);
  });

  it('local/flite speaks a text of the maximum length, and refuses a longer one', async () => {
    const longest = 'All work and no play. '.repeat(200).slice(0, 4_096);
    const { cost, file } = await bought({ input: longest, response_format: 'wav' });
    expect(cost).toBe(BigInt(Math.ceil(4_096 * 1.05)));
    const wav = parseWav(file);
    if (wav.kind === 'refused') throw new Error(wav.reason);
    expect(wav.data.length / 48_000).toBeGreaterThan(120);
    await expect(bought({ input: `${longest}!` })).rejects.toThrow(/4096/);
    // Minutes of sound are work for a busy machine.
  }, 240_000);
});
