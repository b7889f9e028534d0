import { createRequire } from 'node:module';
import { assert } from '../../kernel/assert.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { startEmscripten } from '../threads/emscripten-module.ts';
import { serveWorker, workerOptions } from '../threads/worker-host.ts';
import type { ClosesStreams } from '../threads/worker-streams.ts';
import { type AacModule, createAacEncoder } from './aac-encoder.ts';
import { createFlacEncoder, type FlacModule } from './flac-encoder.ts';
import { createMp3Encoder, type LameModule } from './mp3-encoder.ts';
import { createOpusEncoder, type OpusScriptClass } from './opus-encoder.ts';
import type { EncodedFormat, SoundEncoder } from './sound-encoder.ts';

/** Path of the encoder script of each format whose package is installed. */
export type EncoderOptions = { readonly scripts: Readonly<Partial<Record<EncodedFormat, string>>> };

/** Calls of the encoder worker. The client chooses the number of each stream. */
export type EncoderContract = {
  readonly open: {
    readonly in: { readonly stream: number; readonly format: EncodedFormat };
    readonly out: null;
  };
  readonly push: {
    readonly in: { readonly stream: number; readonly pcm: Int16Array };
    readonly out: Uint8Array;
  };
  readonly finish: { readonly in: { readonly stream: number }; readonly out: Uint8Array };
} & ClosesStreams;

type NewEncoder = (stream: number) => SoundEncoder;

const { sampleRateHz } = ENGINE_LIMITS.speech;
const { scripts } = workerOptions<EncoderOptions>();
const programs = new Map<EncodedFormat, Promise<NewEncoder>>();
const streams = new Map<number, SoundEncoder>();

const LOADERS: Readonly<Record<EncodedFormat, (script: string) => Promise<NewEncoder>>> = {
  async mp3(script) {
    const module = await startEmscripten<LameModule>(script);
    return () => createMp3Encoder(module, sampleRateHz);
  },
  async aac(script) {
    const module = await startEmscripten<AacModule>(script);
    return () => createAacEncoder(module, sampleRateHz);
  },
  async flac(script) {
    const module = await startEmscripten<FlacModule>(script);
    let files = 0;
    return () => {
      // The program never frees its encoders, so a new program replaces it after some files.
      if (++files >= ENGINE_LIMITS.encoding.flacFilesAProgram) programs.delete('flac');
      return createFlacEncoder(module, sampleRateHz);
    };
  },
  async opus(script) {
    const Encoder = createRequire(import.meta.url)(script) as OpusScriptClass;
    return (stream) => createOpusEncoder(Encoder, sampleRateHz, stream % 2 ** 32);
  },
};

/** Loads a program at its first use. After a failure, the next use loads it again. */
function programOf(format: EncodedFormat): Promise<NewEncoder> {
  const known = programs.get(format);
  if (known !== undefined) return known;
  const script = scripts[format];
  assert(script !== undefined, `the ${format} encoder is asked for where it is installed`);
  const loading = LOADERS[format](script);
  programs.set(format, loading);
  loading.catch(() => programs.delete(format));
  return loading;
}

function encoderOf(stream: number): SoundEncoder {
  const encoder = streams.get(stream);
  if (encoder === undefined) throw new Error('the encoder of this sound is gone');
  return encoder;
}

serveWorker<EncoderContract>({
  async open({ stream, format }) {
    assert(streams.size < ENGINE_LIMITS.encoding.streams, 'the client bounds the streams');
    streams.set(stream, (await programOf(format))(stream));
    return null;
  },
  push: ({ stream, pcm }) => encoderOf(stream).push(pcm),
  finish: ({ stream }) => encoderOf(stream).finish(),
  close({ stream }) {
    const encoder = streams.get(stream);
    streams.delete(stream);
    encoder?.close();
    return null;
  },
});
