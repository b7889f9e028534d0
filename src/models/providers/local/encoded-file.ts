import { writeFlacSamples } from '../../../../media/flac-head.ts';
import type { EncodedSound, SoundEncoding } from '../../../engines/engine.ts';
import type { EncodedFormat } from '../../../engines/tts/sound-encoder.ts';
import { SPEECH_LIMITS } from '../../speech/limits.ts';

/**
 * Encodes audio of `ENGINE_LIMITS.speech.sampleRateHz` as a file while it is sent. Yields nothing without audio. The encoder is
 * released when the last piece was taken, or the generator is returned.
 */
export function encodedFile(
  encoding: Pick<SoundEncoding, 'open'>,
  format: EncodedFormat,
  pcm: AsyncIterable<Int16Array>,
): AsyncGenerator<Uint8Array> {
  if (format !== 'flac') return encode(encoding, format, pcm);
  let samples = 0;
  const counted = (async function* () {
    for await (const piece of pcm) {
      samples += piece.length;
      yield piece;
    }
  })();
  return flacFile(encode(encoding, format, counted), () => samples);
}

async function* encode(
  encoding: Pick<SoundEncoding, 'open'>,
  format: EncodedFormat,
  pcm: AsyncIterable<Int16Array>,
): AsyncGenerator<Uint8Array> {
  let encoder: EncodedSound | undefined;
  try {
    for await (const piece of pcm) {
      encoder ??= await encoding.open(format);
      const made = await encoder.push(piece);
      if (made.length > 0) yield made;
    }
    const rest = await encoder?.finish();
    if (rest !== undefined && rest.length > 0) yield rest;
  } finally {
    encoder?.close();
  }
}

/**
 * Writes the length into the head of a short FLAC file, which waits for its end; a longer file is sent at once without a
 * length. Players show no length when the head has none. Other formats need no length in their head, except WAV, which works
 * the same way.
 */
async function* flacFile(
  pieces: AsyncIterable<Uint8Array>,
  samples: () => number,
): AsyncGenerator<Uint8Array> {
  let kept: Uint8Array[] | undefined = [];
  for await (const piece of pieces) {
    if (kept === undefined) {
      yield piece;
      continue;
    }
    kept.push(piece);
    if (2 * samples() <= SPEECH_LIMITS.wholeFileBytes) continue;
    yield Buffer.concat(kept);
    kept = undefined;
  }
  if (kept === undefined || kept.length === 0) return;
  const file = Buffer.concat(kept);
  writeFlacSamples(file, samples());
  yield file;
}
