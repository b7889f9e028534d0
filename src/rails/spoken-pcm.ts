import { writePcmBytes } from '../../media/pcm.ts';
import { Resampler } from '../../media/resample.ts';
import type { SpeechChunk } from '../engines/engine.ts';
import { soon } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';

/**
 * Synthesised speech as 16-bit little-endian bytes at `LIMITS.speech.sampleRateHz`, in short pieces: between two of
 * them others have their turn, since a sentence may be half a minute long.
 */
export async function* spokenPcm(chunks: AsyncIterable<SpeechChunk>): AsyncGenerator<Uint8Array> {
  let resampler: Resampler | undefined;
  for await (const { pcm, sampleRateHz } of chunks) {
    if (resampler?.fromHz !== sampleRateHz) {
      if (resampler !== undefined) yield* restOf(resampler);
      resampler = new Resampler(sampleRateHz, LIMITS.speech.sampleRateHz);
    }
    const step = Math.floor((sampleRateHz * LIMITS.speech.pieceMs) / 1_000);
    for (let at = 0; at < pcm.length; at += step) {
      const input = pcm.subarray(at, at + step);
      const target = new Int16Array(resampler.outputSamples(input.length));
      const bytes = bytesOf(target.subarray(0, resampler.push(input, target)));
      if (bytes.length > 0) yield bytes;
      await new Promise<void>(soon);
    }
  }
  if (resampler !== undefined) yield* restOf(resampler);
}

function* restOf(resampler: Resampler): Generator<Uint8Array> {
  const target = new Int16Array(resampler.outputSamples(resampler.lookaheadSamples));
  const bytes = bytesOf(target.subarray(0, resampler.flush(target)));
  if (bytes.length > 0) yield bytes;
}

function bytesOf(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  writePcmBytes(samples, bytes);
  return bytes;
}
