import type { SoundFormat } from '../../../../media/coding.ts';
import { wavHeader } from '../../../../media/wav.ts';
import { LIMITS } from '../../../kernel/limits.ts';

/**
 * Sound as a WAV file. A short one goes out in one piece, and its head says how long it is: players take a head that
 * does not for a day of sound. A longer one begins before it is made whole, and its head leaves the length open.
 * Where there is no sound at all there is no file.
 */
export async function* wavFile(
  sound: AsyncIterable<Uint8Array>,
  { encoding, sampleRateHz }: SoundFormat = OURS,
): AsyncGenerator<Uint8Array> {
  const headOf = (dataBytes: number | null): Uint8Array =>
    wavHeader({ coding: encoding, sampleRateHz, dataBytes });
  let pieces: Uint8Array[] | undefined = [];
  let bytes = 0;
  for await (const piece of sound) {
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

const OURS: SoundFormat = { encoding: 'linear16', sampleRateHz: LIMITS.speech.sampleRateHz };
