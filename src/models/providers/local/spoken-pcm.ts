import { writePcmBytes } from '../../../../media/pcm.ts';
import { Resampler } from '../../../../media/resample.ts';
import type { SpeechChunk } from '../../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import { soon } from '../../../kernel/clock.ts';
import { SPEECH_LIMITS } from '../../speech/limits.ts';

/**
 * Yields synthesised speech as 16-bit samples at `ENGINE_LIMITS.speech.sampleRateHz`, in short pieces: other work runs between two
 * pieces, because a sentence may last half a minute. Each piece has its own memory.
 */
export async function* spokenSamples(
  chunks: AsyncIterable<SpeechChunk>,
): AsyncGenerator<Int16Array> {
  let resampler: Resampler | undefined;
  for await (const { pcm, sampleRateHz } of chunks) {
    if (resampler?.fromHz !== sampleRateHz) {
      if (resampler !== undefined) yield* restOf(resampler);
      resampler = new Resampler(sampleRateHz, ENGINE_LIMITS.speech.sampleRateHz);
    }
    const step = Math.floor((sampleRateHz * SPEECH_LIMITS.pieceMs) / 1_000);
    for (let at = 0; at < pcm.length; at += step) {
      const input = pcm.subarray(at, at + step);
      const target = new Int16Array(resampler.outputSamples(input.length));
      const samples = target.subarray(0, resampler.push(input, target));
      if (samples.length > 0) yield samples;
      await new Promise<void>(soon);
    }
  }
  if (resampler !== undefined) yield* restOf(resampler);
}

function* restOf(resampler: Resampler): Generator<Int16Array> {
  const target = new Int16Array(resampler.outputSamples(resampler.lookaheadSamples));
  const samples = target.subarray(0, resampler.flush(target));
  if (samples.length > 0) yield samples;
}

/** Converts spoken chunks to little-endian 16-bit bytes. */
export async function* spokenPcm(chunks: AsyncIterable<SpeechChunk>): AsyncGenerator<Uint8Array> {
  for await (const samples of spokenSamples(chunks)) {
    const bytes = new Uint8Array(samples.length * 2);
    writePcmBytes(samples, bytes);
    yield bytes;
  }
}
