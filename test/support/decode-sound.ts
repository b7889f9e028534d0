import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { OggOpusDecoder } from 'ogg-opus-decoder';

export type Decoded = {
  readonly sampleRateHz: number;
  readonly channels: number;
  /** The codec by the name that the decoder has for it. */
  readonly codec: string;
  readonly samples: Int16Array;
};

const require = createRequire(import.meta.url);
const entry = require.resolve('@humansignal/audio-file-decoder');
// The package is a module that was written for bundlers: it looks for these two of the older kind.
Object.assign(globalThis, { require, __dirname: dirname(entry) });
const wasm = readFileSync(require.resolve('@humansignal/audio-file-decoder/decode-audio.wasm'));
const wasmUrl = `data:application/wasm;base64,${wasm.toString('base64')}`;

/** Reads a whole file of sound with decoders that share no code with what wrote it. */
export const decodeSound = (file: Uint8Array): Promise<Decoded> =>
  Buffer.from(file.subarray(0, 4)).equals(Buffer.from('OggS')) ? decodeOpus(file) : decode(file);

const sixteenBits = (floats: Float32Array) =>
  Int16Array.from(floats, (x) => Math.max(-1, Math.min(1, x)) * 32_767);

async function decode(file: Uint8Array): Promise<Decoded> {
  const { getAudioDecoder } = await import('@humansignal/audio-file-decoder');
  const decoder = await getAudioDecoder(wasmUrl, Uint8Array.from(file).buffer);
  try {
    const { sampleRate, channelCount, encoding } = decoder;
    return {
      sampleRateHz: sampleRate,
      channels: channelCount,
      codec: encoding,
      samples: sixteenBits(decoder.decodeAudioData()),
    };
  } finally {
    decoder.dispose();
  }
}

/** The decoder above seeks to the second page of an Ogg file; this one minds checksums and the end of the sound. */
async function decodeOpus(file: Uint8Array): Promise<Decoded> {
  const decoder = new OggOpusDecoder();
  await decoder.ready;
  try {
    const { channelData, errors, sampleRate } = await decoder.decodeFile(file);
    if (errors.length > 0) throw new Error(errors[0]?.message);
    const samples = sixteenBits(channelData[0] ?? new Float32Array(0));
    return { sampleRateHz: sampleRate, channels: channelData.length, codec: 'opus', samples };
  } finally {
    decoder.free();
  }
}
