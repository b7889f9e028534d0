import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Resampler } from '../../../../media/resample.ts';
import { parseWav, wavSamples } from '../../../../media/wav.ts';
import { createLocalEngines } from '../../../engines/local-engines.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { silentLog } from '../../../kernel/log.ts';
import { systemRandom } from '../../../kernel/random.ts';
import type { Utterance } from './transcribe.ts';

const SPEECH = resolve(import.meta.dirname, '../../../../test/vectors/speech');

/** Reads recordings of a human reader, each with its transcript. */
export function readRecordings(files: readonly string[]): readonly Utterance[] {
  const texts = JSON.parse(readFileSync(join(SPEECH, 'transcripts.json'), 'utf8')) as {
    file: string;
    text: string;
  }[];
  return files.map((file) => {
    const wav = parseWav(readFileSync(join(SPEECH, file)));
    if (wav.kind === 'refused') throw new Error(`${file}: ${wav.reason}`);
    return { pcm: wavSamples(wav), said: texts.find((entry) => entry.file === file)?.text ?? file };
  });
}

/** Speaks a text with the built-in synthesiser and resamples it to `sampleRateHz`. */
export async function synthesise(text: string, sampleRateHz: number): Promise<Int16Array> {
  await using engines = createLocalEngines({
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });
  const { signal } = new AbortController();
  const parts: Int16Array[] = [];
  for await (const chunk of engines.tts.flite.speak({ text, voice: 'rms', signal })) {
    parts.push(resampled(chunk.pcm, chunk.sampleRateHz, sampleRateHz));
  }
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

function resampled(pcm: Int16Array, fromHz: number, toHz: number): Int16Array {
  const resampler = new Resampler(fromHz, toHz);
  const tail = resampler.lookaheadSamples;
  // Silence of the filter's length is appended, so that the resampler returns its delayed last samples.
  const padded = new Int16Array(pcm.length + tail);
  padded.set(pcm);
  const target = new Int16Array(resampler.outputSamples(padded.length));
  return target.subarray(0, resampler.push(padded, target));
}
