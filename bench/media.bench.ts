import { readFileSync } from 'node:fs';
import { decodeAlaw, encodeAlaw } from '../media/alaw.ts';
import { HEARING_FRAME, HEARING_WINDOW } from '../media/hearing.ts';
import { decodeMulaw, encodeMulaw } from '../media/mulaw.ts';
import { PcmByteReader, writePcmBytes } from '../media/pcm.ts';
import { Resampler } from '../media/resample.ts';
import { TurnDetector } from '../media/vad.ts';
import { parseWav, wavSamples } from '../media/wav.ts';
import { loadNoiseSuppressors } from '../src/engines/noise-suppressor.ts';
import { createEngineFiles } from '../src/engines/threads/engine-files.ts';
import { loadSpeechGates } from '../src/engines/vad/fvad-gate.ts';
import { loadSilero } from '../src/engines/vad/silero.ts';
import { LineCleaner } from '../src/phone/voice/noise/line-cleaner.ts';
import type { BenchRow } from './bench-row.ts';

const ROUNDS = 5;
const RECORDING = new URL('../test/vectors/speech/librivox-0870.wav', import.meta.url);

type Stage = {
  readonly what: string;
  /** Nanoseconds per run that it may take on two shared cores; twice to three times what it took. */
  readonly limitNs: number;
  readonly runs: number;
  readonly run: (turn: number) => void;
};

/** CPU of this thread, so that a neighbour's work does not count; the best of the rounds. */
function nanosecondsPerRun({ runs, run }: Stage): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (let turn = 0; turn < runs; turn++) run(turn);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, ((user + system) * 1_000) / runs);
  }
  return best;
}

function speech(): Int16Array {
  const wav = parseWav(readFileSync(RECORDING));
  if (wav.kind === 'refused') throw new Error(wav.reason);
  return wavSamples(wav);
}

function codecs(sound: Int16Array): Stage[] {
  const pcm = sound.slice(16_000, 16_160);
  const codes = new Uint8Array(160);
  const bytes = new Uint8Array(320);
  const target = new Int16Array(160);
  const reader = new PcmByteReader();
  encodeMulaw(pcm, codes);
  writePcmBytes(pcm, bytes);
  const runs = 40_000;
  return [
    { what: 'mu-law decode', limitNs: 600, runs, run: () => decodeMulaw(codes, target) },
    { what: 'mu-law encode', limitNs: 600, runs, run: () => encodeMulaw(pcm, codes) },
    { what: 'A-law decode', limitNs: 600, runs, run: () => decodeAlaw(codes, target) },
    { what: 'A-law encode', limitNs: 600, runs, run: () => encodeAlaw(pcm, codes) },
    { what: 'PCM bytes in', limitNs: 800, runs, run: () => reader.push(bytes, target) },
    { what: 'PCM bytes out', limitNs: 800, runs, run: () => writePcmBytes(pcm, bytes) },
  ];
}

function resamplers(sound: Int16Array): Stage[] {
  const target = new Int16Array(1_000);
  const pairs = [
    [8_000, 16_000, 15_000],
    [16_000, 8_000, 25_000],
    [8_000, 24_000, 30_000],
    [24_000, 8_000, 40_000],
    [24_000, 16_000, 40_000],
    [48_000, 16_000, 80_000],
    [44_100, 16_000, 80_000],
    [44_101, 16_000, 160_000],
  ] as const;
  return pairs.map(([from, to, limitNs]) => {
    const resampler = new Resampler(from, to);
    const pcm = sound.slice(16_000, 16_000 + from / 50);
    return {
      what: `resample ${from} to ${to} Hz`,
      limitNs,
      runs: 1_000,
      run: () => resampler.push(pcm, target),
    };
  });
}

async function voice(sound: Int16Array): Promise<Stage[]> {
  const gates = await loadSpeechGates();
  const gate = gates.open();
  const telephone = gates.open(8_000);
  const turns = new TurnDetector({ answerWithinMs: 0 });
  const silero = loadSilero(createEngineFiles().sileroWeights()).open();
  const frames = Math.floor(sound.length / HEARING_FRAME);
  const windows = Math.floor(sound.length / HEARING_WINDOW);
  const frameOf = (turn: number) => {
    const at = (turn % frames) * HEARING_FRAME;
    return sound.subarray(at, at + HEARING_FRAME);
  };
  return [
    { what: 'gate', limitNs: 8_000, runs: 5_000, run: (turn) => gate.isSpeech(frameOf(turn)) },
    {
      what: 'gate of a telephone',
      limitNs: 5_000,
      runs: 5_000,
      run: (turn) => telephone.isSpeech(frameOf(turn).subarray(0, HEARING_FRAME / 2)),
    },
    {
      what: 'turn detector',
      limitNs: 2_000,
      runs: 5_000,
      run: (turn) => turns.frame(frameOf(turn)),
    },
    {
      what: 'Silero, 32 ms',
      limitNs: 300_000,
      runs: windows,
      run: (turn) => {
        const at = (turn % windows) * HEARING_WINDOW;
        silero.probability(sound.subarray(at, at + HEARING_WINDOW));
      },
    },
  ];
}

/** What a line costs whose noise is suppressed: 20 ms at 8 kHz, with the way to 48 kHz and back. */
async function cleaning(sound: Int16Array): Promise<Stage[]> {
  const format = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
  const cleaner = new LineCleaner(await loadNoiseSuppressors(), format);
  const codes = new Uint8Array(160);
  encodeMulaw(sound.subarray(16_000, 16_160), codes);
  const suppressor = (await loadNoiseSuppressors()).open(8_000);
  const frame = new Int16Array(160);
  const there = new Resampler(8_000, 48_000);
  const back = new Resampler(48_000, 8_000);
  const wide = new Int16Array(1_000);
  return [
    {
      what: 'noise suppression of a line',
      limitNs: 700_000,
      runs: 300,
      run: () => cleaner.clean(codes),
    },
    {
      what: 'of it, RNNoise with its resampling',
      limitNs: 700_000,
      runs: 300,
      run: (turn) => {
        frame.set(sound.subarray(160 * (turn % 300), 160 * ((turn % 300) + 1)));
        suppressor.suppress(frame);
      },
    },
    {
      what: 'of it, resampling 8000 to 48000 Hz and back',
      limitNs: 150_000,
      runs: 300,
      run: () => {
        there.push(frame, wide);
        back.push(wide, frame, 960);
      },
    },
  ];
}

/** What each stage of the audio path costs for 20 ms of one listener's sound. */
export async function benchMedia(): Promise<BenchRow[]> {
  const sound = speech();
  const stages = [
    ...codecs(sound),
    ...resamplers(sound),
    ...(await voice(sound)),
    ...(await cleaning(sound)),
  ];
  return stages.map((stage) => {
    const value = Math.round(nanosecondsPerRun(stage));
    const note = value <= stage.limitNs ? undefined : `over ${stage.limitNs} ns`;
    return {
      bar: 'P4',
      what: `media: ${stage.what}`,
      value,
      unit: 'ns/20 ms',
      ...(note === undefined ? {} : { note }),
    };
  });
}
