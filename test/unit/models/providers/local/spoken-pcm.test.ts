import { describe, expect, it } from 'vitest';
import { PcmByteReader } from '../../../../../media/pcm.ts';
import type { SpeechChunk } from '../../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../../src/engines/limits.ts';
import { spokenPcm } from '../../../../../src/models/providers/local/spoken-pcm.ts';
import { SPEECH_LIMITS } from '../../../../../src/models/speech/limits.ts';

const tone = (sampleRateHz: number, seconds: number): SpeechChunk => ({
  sampleRateHz,
  text: '',
  pcm: Int16Array.from({ length: sampleRateHz * seconds }, (_, i) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * 440 * i) / sampleRateHz)),
  ),
});

async function* chunksOf(...chunks: SpeechChunk[]) {
  yield* chunks;
}

async function bytesOf(chunks: AsyncIterable<SpeechChunk>): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of spokenPcm(chunks)) pieces.push(Buffer.from(piece));
  return pieces;
}

describe('spoken sound', () => {
  it('resampled speech at 24 kHz has the same duration and tone', async () => {
    const bytes = Buffer.concat(await bytesOf(chunksOf(tone(16_000, 1))));
    expect(bytes.length / 2).toBe(24_000);
    const samples = new Int16Array(24_000);
    new PcmByteReader().push(bytes, samples);
    const wanted = tone(24_000, 1).pcm;
    const worst = samples.reduce(
      (most, sample, i) =>
        i < 100 || i > 23_900 ? most : Math.max(most, Math.abs(sample - (wanted[i] as number))),
      0,
    );
    expect(worst).toBeLessThan(80);
  });

  it('resampled speech continues from one sentence to the next, whatever their sample rates', async () => {
    const mixed = await bytesOf(chunksOf(tone(16_000, 1), tone(16_000, 1), tone(8_000, 1)));
    expect(Buffer.concat(mixed).length / 2).toBe(3 * 24_000);
  });

  it('resampled speech comes in short pieces', async () => {
    const pieces = await bytesOf(chunksOf(tone(16_000, 2)));
    const most = (2 * ENGINE_LIMITS.speech.sampleRateHz * SPEECH_LIMITS.pieceMs) / 1_000;
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(most);
  });

  it('resampling speech yields to the event loop between two pieces', async () => {
    let turns = 0;
    const count = () => {
      turns++;
      if (turns < 100) setImmediate(count);
    };
    setImmediate(count);
    await bytesOf(chunksOf(tone(16_000, 2)));
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it('resampled speech of no sentence is empty', async () => {
    expect(await bytesOf(chunksOf())).toEqual([]);
  });
});
