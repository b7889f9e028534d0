import { frameBytes, parseWavSound } from '../wav-sound.ts';
import { type Measured, measured, refused } from './measured.ts';

/** Counted from the bytes of sound that are there, whatever the header says of its length or byte rate. */
export function wavDuration(bytes: Uint8Array): Measured {
  const wav = parseWavSound(bytes);
  if (wav.kind === 'refused') return refused(`The WAV file cannot be read: ${wav.reason}.`);
  return measured(wav.data.length / frameBytes(wav) / wav.sampleRateHz);
}
