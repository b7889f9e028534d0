import { encodeAlaw } from '../../../../media/alaw.ts';
import { bytesPerSample, type SoundFormat } from '../../../../media/coding.ts';
import { encodeMulaw } from '../../../../media/mulaw.ts';
import { PcmByteReader, writePcmBytes } from '../../../../media/pcm.ts';
import { Resampler } from '../../../../media/resample.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import { soon } from '../../../kernel/clock.ts';
import { wavFile } from '../../../models/providers/local/wav-file.ts';
import { SPEECH_LIMITS } from '../../../models/speech/limits.ts';

const OVER = { done: true, value: undefined } as const;

export type MadeSound = SoundFormat & {
  /** True when the header of a WAV file comes before the samples. */
  readonly inWav: boolean;
};

/**
 * Converts a speech model's samples to the requested coding and rate, piece by piece as they arrive. A reader that stops also
 * ends the source of the samples, even before the first piece.
 */
export function madeSound(
  pcm: AsyncIterable<Uint8Array>,
  { inWav, ...format }: MadeSound,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const inner = pcm[Symbol.asyncIterator]();
      const coded = codedSound({ [Symbol.asyncIterator]: () => inner }, format);
      const made = inWav ? wavFile(coded, format) : coded;
      return {
        next: () => made.next(),
        async return() {
          await inner.return?.();
          // The converter may still wait for a piece of the source, which has ended. Its return is not awaited.
          made.return(undefined).catch(() => {});
          return OVER;
        },
      };
    },
  };
}

async function* codedSound(
  pcm: AsyncIterable<Uint8Array>,
  { encoding, sampleRateHz }: SoundFormat,
): AsyncGenerator<Uint8Array> {
  const fromHz = ENGINE_LIMITS.speech.sampleRateHz;
  const reader = new PcmByteReader();
  const resampler = new Resampler(fromHz, sampleRateHz);
  const step = Math.floor((fromHz * SPEECH_LIMITS.pieceMs) / 1_000);
  const write = CODERS[encoding];
  const coded = (samples: Int16Array): Uint8Array => {
    const bytes = new Uint8Array(samples.length * bytesPerSample(encoding));
    write(samples, bytes);
    return bytes;
  };
  for await (const bytes of pcm) {
    const samples = new Int16Array(reader.samplesIn(bytes.byteLength));
    reader.push(bytes, samples);
    for (let at = 0; at < samples.length; at += step) {
      // A piece may be seconds long, so other work gets a turn between two parts of the piece.
      if (at > 0) await new Promise<void>(soon);
      const input = samples.subarray(at, at + step);
      const target = new Int16Array(resampler.outputSamples(input.length));
      const made = target.subarray(0, resampler.push(input, target));
      if (made.length > 0) yield coded(made);
    }
  }
  const rest = new Int16Array(resampler.outputSamples(resampler.lookaheadSamples));
  const made = rest.subarray(0, resampler.flush(rest));
  if (made.length > 0) yield coded(made);
}

const CODERS = { linear16: writePcmBytes, mulaw: encodeMulaw, alaw: encodeAlaw } as const;
