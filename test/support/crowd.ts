import { loadRecording, overTelephone } from './speech.ts';

const FILES = ['librivox-0870.wav', 'librivox-0890.wav', 'librivox-0930.wav'];

/** Three readers at once, at 8 kHz, for as many samples as given. */
export function crowdOf(samples: number): Int16Array {
  const readers = FILES.map((file) => overTelephone(loadRecording(file)));
  return Int16Array.from({ length: samples }, (_, at) =>
    readers.reduce((sum, pcm) => sum + (pcm[at % pcm.length] ?? 0), 0),
  );
}

/** Whole frames of 20 ms of telephone sound. */
export const framesOf = (sound: Int16Array): readonly Int16Array[] =>
  Array.from({ length: Math.floor(sound.length / 160) }, (_, nth) =>
    sound.subarray(nth * 160, (nth + 1) * 160),
  );
