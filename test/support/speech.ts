import { readFileSync } from 'node:fs';
import { decodeMulaw, encodeMulaw } from '../../media/mulaw.ts';
import { Resampler } from '../../media/resample.ts';
import { parseWav, wavSamples } from '../../media/wav.ts';
import type { SttListener, SttStream, Transcript } from '../../src/engines/engine.ts';

const FOLDER = new URL('../vectors/speech/', import.meta.url);

export type Recording = { readonly file: string; readonly text: string; readonly grammar?: string };

/** The shipped recordings with what is really said in them. */
export const RECORDINGS: readonly Recording[] = JSON.parse(
  readFileSync(new URL('transcripts.json', FOLDER), 'utf8'),
);

export const LIBRIVOX = RECORDINGS.filter(({ file }) => file.startsWith('librivox'));

export function loadRecording(file: string): Int16Array {
  const wav = parseWav(readFileSync(new URL(file, FOLDER)));
  if (wav.kind === 'refused') throw new Error(wav.reason);
  return wavSamples(wav);
}

/** What is left of 16 kHz sound after a telephone line: 8 kHz, mu-law. */
export function overTelephone(pcm: Int16Array): Int16Array {
  const down = new Resampler(16_000, 8_000);
  const narrow = new Int16Array(pcm.length);
  const length = down.push(pcm, narrow);
  const coded = new Uint8Array(length);
  encodeMulaw(narrow.subarray(0, length), coded);
  const heard = new Int16Array(length);
  decodeMulaw(coded, heard);
  return heard;
}

/** Sends sound as a carrier does, 20 ms a frame. */
export function pushFrames(stream: SttStream, pcm: Int16Array, sampleRateHz: number): void {
  const frame = sampleRateHz / 50;
  for (let at = 0; at < pcm.length; at += frame) stream.push(pcm.subarray(at, at + frame));
}

/** A listener that keeps what it hears. */
export function listening() {
  const transcripts: Transcript[] = [];
  const failures: Error[] = [];
  const listener: SttListener = {
    transcript: (transcript) => transcripts.push(transcript),
    failed: (error) => failures.push(error),
  };
  const finals = () => transcripts.filter(({ isFinal }) => isFinal).map(({ text }) => text);
  return { listener, transcripts, failures, finals };
}

/** How many words must be added, dropped or changed to make what was heard into what was said. */
export function wordErrors(said: string, heard: string): number {
  const [a, b] = [said, heard].map((text) => text.split(/\s+/).filter((word) => word !== '')) as [
    string[],
    string[],
  ];
  let row = b.map((_, i) => i + 1);
  row.unshift(0);
  for (const [i, word] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) {
      const changed = (row[j] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

export const wordCount = (text: string) => text.split(/\s+/).length;
