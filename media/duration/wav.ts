import { parsePackedWav } from '../coded/packed-wav.ts';
import { frameBytes, parseWavSound } from '../wav-sound.ts';
import { type Measured, measured, refused } from './measured.ts';
import { mp3Duration } from './mp3.ts';

/** Measures WAV by its existing sound bytes. Length and byte rate in the header are ignored. */
export function wavDuration(bytes: Uint8Array): Measured | Promise<Measured> {
  const wav = parseWavSound(bytes);
  if (wav.kind === 'parsed') return measured(wav.data.length / frameBytes(wav) / wav.sampleRateHz);
  const packed = parsePackedWav(bytes);
  if (packed.kind === 'refused') return refused(`The WAV file cannot be read: ${wav.reason}.`);
  const { data } = packed;
  if (packed.isMp3) return mp3Duration(Buffer.from(data.buffer, data.byteOffset, data.length));
  const { blockBytes, samplesIn, sampleRateHz } = packed;
  const blocks = Math.floor(data.length / blockBytes);
  const samples = blocks * samplesIn(blockBytes) + samplesIn(data.length % blockBytes);
  return measured(samples / sampleRateHz);
}
