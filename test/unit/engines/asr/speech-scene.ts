import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseWav, wavSamples } from '../../../../media/wav.ts';

const SPEECH = join(import.meta.dirname, '../../../vectors/speech');
const RATE_HZ = 16_000;

/** A shipped recording at 16 kHz. */
export function recording(name: string): Int16Array {
  const wav = parseWav(readFileSync(join(SPEECH, `${name}.wav`)));
  if (wav.kind === 'refused') throw new Error(wav.reason);
  if (wav.sampleRateHz !== RATE_HZ) throw new Error('the recordings are at 16 kHz');
  return wavSamples(wav);
}

/** Recordings one after the other with silence around each, and when each is spoken. */
export function conversation(names: readonly string[], pauseMs: number) {
  const parts: Int16Array[] = [];
  const spoken: { fromMs: number; toMs: number }[] = [];
  const pause = new Int16Array((pauseMs * RATE_HZ) / 1_000);
  let atMs = 0;
  for (const name of names) {
    const sound = recording(name);
    const fromMs = atMs + pauseMs;
    atMs = fromMs + (sound.length * 1_000) / RATE_HZ;
    spoken.push({ fromMs, toMs: atMs });
    parts.push(pause, sound);
  }
  parts.push(pause);
  const pcm = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    pcm.set(part, at);
    at += part.length;
  }
  return { pcm, spoken };
}
