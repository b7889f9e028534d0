import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';
import type { TimedWord } from '../engine.ts';
import type { Decoder } from './decoder.ts';
import { createDither } from './dither.ts';
import { findSpectralMean } from './spectral-mean.ts';

/** Paths of the recogniser's parts, which come from two packages. */
export type PocketsphinxFiles = {
  readonly script: string;
  readonly wasm: string;
  readonly languageModel: string;
  readonly dictionary: string;
  /** Contents of the acoustic model's files, by file name. */
  readonly acoustic: Readonly<Record<string, string>>;
};

/** Feature parameters that the 8 kHz acoustic model was trained with. Its package keeps them in another form. */
const FEATURE_PARAMETERS = `-lowerf 130
-upperf 3700
-nfilt 20
-transform dct
-lifter 22
-feat 1s_c_d_dd
-svspec 0-12/13-25/26-38
-agc none
-cmn current
-varnorm no
`;

/**
 * Loudness (`-cmninit`) that a stream is assumed to have before any audio was heard; without it the first sentence has twice
 * the errors. The options make one pass, with a search narrow enough for a live stream.
 */
const FIRST_MEAN = 50;
const OPTIONS = [
  ['-hmm', '/m/am'],
  ['-dict', '/m/dict'],
  ['-lm', '/m/lm.bin'],
  ['-remove_silence', 'no'],
  ['-fwdflat', 'no'],
  ['-maxhmmpf', '5000'],
  ['-maxwpf', '15'],
  ['-cmninit', String(FIRST_MEAN)],
] as const;

type Status = { readonly value: number };

type AudioBuffer = { push_back(sample: number): void; delete(): void };

/** A recognised word. `start` and `end` are numbers of 10 ms frames; `end` is the last frame of the word. */
type SegItem = { readonly word: string; readonly start: number; readonly end: number };

type Segmentation = { size(): number; get(index: number): SegItem; delete(): void };

type Recognizer = {
  start(): Status;
  stop(): Status;
  process(buffer: AudioBuffer): Status;
  getHyp(): string;
  getHypseg(segmentation: Segmentation): Status;
};

type Runtime = {
  FS_createPath(parent: string, path: string, canRead: boolean, canWrite: boolean): void;
  FS_createDataFile(
    parent: string,
    name: string,
    data: Uint8Array,
    canRead: boolean,
    canWrite: boolean,
    canOwn: boolean,
  ): void;
  readonly Config: new () => { push_back(pair: readonly [string, string]): void; delete(): void };
  readonly Recognizer: new (config: object) => Recognizer;
  readonly AudioBuffer: new () => AudioBuffer;
  readonly Segmentation: new () => Segmentation;
  readonly ReturnType: { readonly SUCCESS: Status };
  readonly HEAP32: Int32Array;
  readonly HEAPF32: Float32Array;
};

/** Loads the recogniser. Takes about half a second of processor time and 125 MB. */
export async function loadPocketsphinx(files: PocketsphinxFiles, seed: number): Promise<Decoder> {
  const runtime = await startRuntime(files);
  await installModels(runtime, files);
  const config = new runtime.Config();
  for (const option of OPTIONS) config.push_back(option);
  const recognizer = new runtime.Recognizer(config);
  config.delete();
  return wrap(runtime, recognizer, seed);
}

async function startRuntime(files: PocketsphinxFiles): Promise<Runtime> {
  const [script, wasmBinary] = await Promise.all([
    readFile(files.script, 'utf8'),
    readFile(files.wasm),
  ]);
  // The script is an old Emscripten program, not a module. It receives a stand-in for `process`, so that it can neither end
  // this process nor install its handlers for uncaught errors, which would end it.
  const start = compileFunction(script, ['Module', 'require', 'process', '__dirname']);
  const tame = Object.create(process, {
    on: { value: () => tame },
    exit: { value: () => {} },
  });
  return new Promise((resolve, reject) => {
    const runtime = {
      wasmBinary,
      print() {},
      printErr() {},
      onAbort: (cause: unknown) => reject(new Error(String(cause))),
      onRuntimeInitialized: () => resolve(runtime as unknown as Runtime),
    };
    start(runtime, createRequire(import.meta.url), tame, dirname(files.script));
  });
}

async function installModels(runtime: Runtime, files: PocketsphinxFiles): Promise<void> {
  runtime.FS_createPath('/', 'm/am', true, true);
  const install = (folder: string, name: string, data: Uint8Array) =>
    runtime.FS_createDataFile(folder, name, data, true, true, true);
  for (const [name, path] of Object.entries(files.acoustic)) {
    install('/m/am', name, await readFile(path));
  }
  install('/m/am', 'feat.params', Buffer.from(FEATURE_PARAMETERS));
  install('/m', 'dict', await readFile(files.dictionary));
  install('/m', 'lm.bin', await readFile(files.languageModel));
}

function wrap(runtime: Runtime, recognizer: Recognizer, seed: number): Decoder {
  const must = (status: Status, what: string) => {
    if (status !== runtime.ReturnType.SUCCESS) throw new Error(`the recogniser cannot ${what}`);
  };
  function words(): readonly TimedWord[] {
    const segmentation = new runtime.Segmentation();
    try {
      if (recognizer.getHypseg(segmentation) !== runtime.ReturnType.SUCCESS) return [];
      return Array.from({ length: segmentation.size() }, (_, i) => segmentation.get(i)).flatMap(
        wordOf,
      );
    } finally {
      segmentation.delete();
    }
  }
  const mean = findSpectralMean(runtime, FIRST_MEAN);
  /** Words from before the end of the utterance, kept when the recogniser ended it without text. */
  let believedWords: readonly TimedWord[] | undefined;
  let dither = createDither(seed);

  return {
    begin() {
      believedWords = undefined;
      // Each utterance has the same noise, so that its text does not depend on the earlier utterances of other callers.
      dither = createDither(seed);
      must(recognizer.start(), 'begin an utterance');
    },
    feed(pcm) {
      const noisy = pcm.slice();
      dither(noisy);
      const buffer = new runtime.AudioBuffer();
      try {
        for (const sample of noisy) buffer.push_back(sample);
        must(recognizer.process(buffer), 'listen');
      } finally {
        buffer.delete();
      }
    },
    hypothesis: () => recognizer.getHyp(),
    end() {
      // For audio that was cut within a word, the search for the best path may find no end and return an empty text.
      const believed = recognizer.getHyp();
      const wordsBefore = words();
      must(recognizer.stop(), 'end an utterance');
      const ended = recognizer.getHyp();
      believedWords = ended === '' ? wordsBefore : undefined;
      return ended || believed;
    },
    words: () => believedWords ?? words(),
    get adaptation() {
      return mean?.read();
    },
    adapt: (adaptation) => mean?.write(adaptation),
  };
}

/**
 * Returns the word of a segment. Silence, noise and sentence marks yield no word; the number of a pronunciation (`read(2)`) is
 * removed.
 */
function wordOf({ word, start, end }: SegItem): TimedWord[] {
  if (/^(<|\+\+|\[)/.test(word)) return [];
  return [{ word: word.replace(/\(\d+\)$/, ''), startMs: 10 * start, endMs: 10 * (end + 1) }];
}
