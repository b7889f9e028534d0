import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { probeDuration } from '../../../../media/duration/probe-duration.ts';
import { startEmscripten } from '../../../../src/engines/threads/emscripten-module.ts';
import { createEngineFiles } from '../../../../src/engines/threads/engine-files.ts';
import { type AacModule, createAacEncoder } from '../../../../src/engines/tts/aac-encoder.ts';
import { createFlacEncoder, type FlacModule } from '../../../../src/engines/tts/flac-encoder.ts';
import { createMp3Encoder, type LameModule } from '../../../../src/engines/tts/mp3-encoder.ts';
import {
  createOpusEncoder,
  type OpusScriptClass,
} from '../../../../src/engines/tts/opus-encoder.ts';
import { type EncodedFormat, FrameCutter } from '../../../../src/engines/tts/sound-encoder.ts';
import { decodeSound } from '../../../support/decode-sound.ts';
import { compareToTone, tone } from '../../media/tone.ts';

const HZ = 24_000;
const SECONDS = 1.503;
const scripts = createEngineFiles().encoderScripts() as Record<EncodedFormat, string>;
const lame = startEmscripten<LameModule>(scripts.mp3);
const aac = startEmscripten<AacModule>(scripts.aac);
const flac = startEmscripten<FlacModule>(scripts.flac);
const Opus = createRequire(import.meta.url)(scripts.opus) as OpusScriptClass;

const ENCODERS = {
  mp3: async () => createMp3Encoder(await lame, HZ),
  aac: async () => createAacEncoder(await aac, HZ),
  flac: async () => createFlacEncoder(await flac, HZ),
  opus: async () => createOpusEncoder(Opus, HZ, 7),
};
const FORMATS = Object.keys(ENCODERS) as EncodedFormat[];

/** In pieces of a length that no frame has. */
async function encoded(format: EncodedFormat, pcm: Int16Array): Promise<Buffer> {
  const encoder = await ENCODERS[format]();
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < pcm.length; at += 4_801) {
    pieces.push(encoder.push(pcm.slice(at, at + 4_801)));
  }
  pieces.push(encoder.finish());
  encoder.close();
  return Buffer.concat(pieces);
}

const said = tone(440, HZ, Math.round(SECONDS * HZ));

/** What an encoder may add to a sound: its delay, and silence up to a whole frame. */
const PADDING: Readonly<Record<EncodedFormat, number>> = { mp3: 0.1, aac: 0.13, opus: 0, flac: 0 };

describe('what the encoders write', () => {
  it.each([
    ['mp3', 'mp3', 24_000],
    ['aac', 'aac', 24_000],
    ['opus', 'opus', 48_000],
    ['flac', 'flac', 24_000],
  ] as const)(
    'another program decodes an encoded file to the same tone for the same time: %s',
    async (format, codec, hz) => {
      const file = await encoded(format, said);
      const read = await decodeSound(file);
      expect(read).toMatchObject({ codec: expect.stringContaining(codec), channels: 1 });
      expect(read.sampleRateHz).toBe(hz);
      const seconds = read.samples.length / hz;
      expect(seconds).toBeGreaterThanOrEqual(SECONDS - 0.03);
      expect(seconds).toBeLessThanOrEqual(SECONDS + PADDING[format] + 0.001);
      const middle = read.samples.slice(0.3 * hz, 1.3 * hz);
      const { gainDb, snrDb } = compareToTone(middle, 440, hz);
      expect(Math.abs(gainDb)).toBeLessThan(0.5);
      expect(snrDb).toBeGreaterThan(20);
    },
  );

  it.each(FORMATS)(
    'our own frame count measures the length of an encoded file: %s',
    async (format) => {
      const probed = await probeDuration(await encoded(format, said));
      if (probed.kind === 'refused') throw new Error(probed.reason);
      const ms = SECONDS * 1_000;
      expect(probed.durationMs).toBeGreaterThanOrEqual(ms - 1);
      expect(probed.durationMs).toBeLessThanOrEqual(ms + 1_000 * PADDING[format] + 1);
    },
  );

  it('a FLAC file holds every sample of its input', async () => {
    const { samples } = await decodeSound(await encoded('flac', said));
    expect(samples).toHaveLength(said.length);
    expect(said.every((sample, i) => Math.abs(sample - (samples[i] ?? 0)) <= 1)).toBe(true);
  });

  it.each(FORMATS)(
    'an encoded file does not depend on files that were encoded before or at the same time: %s',
    async (format) => {
      const first = await encoded(format, said);
      const beside = await ENCODERS[format]();
      beside.push(tone(1_000, HZ, 5_000));
      const second = await encoded(format, said);
      beside.close();
      const third = await encoded(format, said);
      // The Opus serial is the test's own, the same each time.
      expect(second.equals(first) && third.equals(first)).toBe(true);
    },
  );

  it('the MP3 and AAC encoders free their memory: after a hundred files it is as large as after ten', async () => {
    const short = said.slice(0, 2_400);
    for (const [format, program] of [
      ['mp3', lame],
      ['aac', aac],
    ] as const) {
      for (let i = 0; i < 10; i++) await encoded(format, short);
      const before = (await program).HEAPU8.length;
      for (let i = 0; i < 100; i++) await encoded(format, short);
      expect((await program).HEAPU8.length).toBe(before);
    }
  });
});

describe('sound that is cut into frames', () => {
  it('sound that is cut into frames is whole, in order, and padded with silence at its end', () => {
    const frames: number[][] = [];
    const take = (frame: Int16Array) => frames.push([...frame]);
    const cutter = new FrameCutter(3);
    cutter.push(Int16Array.of(1, 2), take);
    cutter.push(Int16Array.of(3, 4, 5, 6, 7), take);
    expect(frames).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    cutter.flush(take);
    cutter.flush(take);
    expect(frames.at(-1)).toEqual([7, 0, 0]);
    expect(frames).toHaveLength(3);
  });
});
