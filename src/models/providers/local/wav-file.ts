import { wavHeader } from '../../../../media/wav.ts';
import { LIMITS } from '../../../kernel/limits.ts';

/**
 * Sound as a WAV file. A short one goes out in one piece, and its head says how long it is: players take a head that
 * does not for a day of sound. A longer one begins before it is made whole, and its head leaves the length open.
 * Where there is no sound at all there is no file.
 */
export async function* wavFile(pcm: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] | undefined = [];
  let bytes = 0;
  for await (const piece of pcm) {
    bytes += piece.byteLength;
    if (pieces === undefined) {
      yield piece;
      continue;
    }
    pieces.push(piece);
    if (bytes <= LIMITS.speech.wholeFileBytes) continue;
    yield Buffer.concat([headOf(null), ...pieces]);
    pieces = undefined;
  }
  if (pieces !== undefined && bytes > 0) yield Buffer.concat([headOf(bytes), ...pieces]);
}

const headOf = (dataBytes: number | null): Uint8Array => {
  const { sampleRateHz } = LIMITS.speech;
  return wavHeader({ coding: 'linear16', sampleRateHz, dataBytes });
};
