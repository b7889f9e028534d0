import { execFileSync } from 'node:child_process';
import { encodeMulaw } from '../media/mulaw.ts';
import { Resampler } from '../media/resample.ts';
import { parseWav, wavSamples } from '../media/wav.ts';
import type { LocalEngines } from '../src/engines/engine.ts';
import { rms } from '../test/support/rms.ts';
import { loadRecording } from '../test/support/speech.ts';

const RATE = 8_000;
export const FRAME_MS = 20;
const FRAME = (RATE * FRAME_MS) / 1_000;
/** -20 dBFS. */
const NOISE_RMS = 3_277;
/** 20 ms of speech stand out of the noise of a line. */
const VOICE_RMS = 200;

export const SHIPPED_VOICES = ['rms', 'slt', 'kal'] as const;
export const NOISES = ['white', 'car', 'hum', 'music', 'babble'] as const;
export type Noise = (typeof NOISES)[number];

/** A program that need not be there. */
const ESPEAK = 'espeak-ng';

/** The name of espeak-ng's voice, where it is installed. */
export function espeakVoice(): 'espeak' | undefined {
  try {
    execFileSync(ESPEAK, ['--version'], { stdio: 'ignore' });
    return 'espeak';
  } catch {
    return undefined;
  }
}

function narrowed(pcm: Int16Array, fromHz: number): Int16Array {
  const resampler = new Resampler(fromHz, RATE);
  const narrow = new Int16Array(resampler.outputSamples(pcm.length) + FRAME);
  return narrow.slice(0, resampler.push(pcm, narrow));
}

function together(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A text as one of the shipped voices says it, or espeak-ng, at 8 kHz. */
export async function sayText(
  { tts }: Pick<LocalEngines, 'tts'>,
  text: string,
  voice: string,
): Promise<Int16Array> {
  if (voice === 'espeak') {
    const wav = parseWav(execFileSync(ESPEAK, ['-v', 'en-us', '--stdout', text]));
    if (wav.kind === 'refused') throw new Error(wav.reason);
    return narrowed(wavSamples(wav), wav.sampleRateHz);
  }
  const parts: Int16Array[] = [];
  const { signal } = new AbortController();
  for await (const { pcm, sampleRateHz } of tts.flite.speak({ text, voice, signal })) {
    parts.push(narrowed(pcm, sampleRateHz));
  }
  return together(parts);
}

export const durationMs = (pcm: Int16Array): number => (pcm.length * 1_000) / RATE;

/** Texts and pauses in milliseconds, as one voice says them one after another, without the silence at its ends. */
export async function sayParts(
  engines: Pick<LocalEngines, 'tts'>,
  parts: readonly (string | number)[],
  voice: string,
): Promise<Int16Array> {
  const sounds: Int16Array[] = [];
  for (const part of parts) {
    const isPause = typeof part === 'number';
    const sound = isPause
      ? new Int16Array((part * RATE) / 1_000)
      : await sayText(engines, part, voice);
    sounds.push(isPause ? sound : trimmed(sound));
  }
  return together(sounds);
}

/** The sound from its first to its last voiced frame. */
function trimmed(pcm: Int16Array): Int16Array {
  let first = -1;
  let last = -1;
  for (let at = 0; at < pcm.length; at += FRAME) {
    if (rms(pcm.subarray(at, at + FRAME)) <= VOICE_RMS) continue;
    if (first < 0) first = at;
    last = at + FRAME;
  }
  return first < 0 ? pcm : pcm.slice(first, last);
}

/** A noise of -20 dBFS, sample by sample. */
export function noiseOf(kind: Noise): () => number {
  const white = () => (Math.random() - 0.5) * 2 * Math.sqrt(3) * NOISE_RMS;
  if (kind === 'white') return white;
  if (kind === 'hum') {
    let n = 0;
    return () => Math.SQRT2 * NOISE_RMS * Math.sin((2 * Math.PI * 120 * n++) / RATE);
  }
  if (kind === 'music') return holdMusic();
  if (kind === 'car') {
    let low = 0;
    // A low pass of one pole; the factor gives the power back that it takes.
    return () => {
      low += 0.05 * (white() - low);
      return low * 6.2;
    };
  }
  const voices = ['librivox-0870.wav', 'librivox-0890.wav', 'librivox-0930.wav'].map((file) =>
    narrowed(loadRecording(file), 16_000),
  );
  const level = rms(together(voices)) * Math.sqrt(voices.length);
  let at = 0;
  return () => {
    at++;
    const sum = voices.reduce((total, pcm) => total + (pcm[at % pcm.length] ?? 0), 0);
    return (sum * NOISE_RMS) / level;
  };
}

/** Chords over a bass, four notes in a second and a half, of -20 dBFS. */
function holdMusic(): () => number {
  const notes = [262, 330, 392, 523, 440, 349, 294, 392];
  const noteSeconds = 0.4;
  let n = 0;
  return () => {
    const t = n++ / RATE;
    const note = notes[Math.floor(t / noteSeconds) % notes.length] as number;
    const strength = 0.4 + Math.exp(-2 * (t % noteSeconds));
    const chord = [1, 1.25, 1.5, 2].reduce(
      (sum, over) => sum + Math.sin(2 * Math.PI * note * over * t),
      0,
    );
    return (NOISE_RMS / 1.56) * strength * chord;
  };
}

/** Frames of base64 for a line that has this sound behind all speech. */
export function lineFrames(background: () => number) {
  return (pcm: Int16Array | undefined, at: number): string => {
    const frame = new Int16Array(FRAME);
    for (let i = 0; i < FRAME; i++) {
      const sample = (pcm?.[at * FRAME + i] ?? 0) + background();
      frame[i] = Math.max(-32_768, Math.min(32_767, sample));
    }
    const codes = new Uint8Array(FRAME);
    encodeMulaw(frame, codes);
    return Buffer.from(codes).toString('base64');
  };
}
