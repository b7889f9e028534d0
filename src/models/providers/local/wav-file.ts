import type { SoundFormat } from '../../../../media/coding.ts';
import { wavHeader } from '../../../../media/wav.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import { SPEECH_LIMITS } from '../../speech/limits.ts';

/**
 * Yields audio as a WAV file. A short file is sent in one piece with its length in the header, because players read an open
 * length as a day of audio. A longer file is sent while it is made, with an open length. Without any audio the file is empty.
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
    if (bytes <= SPEECH_LIMITS.wholeFileBytes) continue;
    yield Buffer.concat([headOf(null), ...pieces]);
    pieces = undefined;
  }
  if (pieces !== undefined && bytes > 0) yield Buffer.concat([headOf(bytes), ...pieces]);
}

const OURS: SoundFormat = { encoding: 'linear16', sampleRateHz: ENGINE_LIMITS.speech.sampleRateHz };
