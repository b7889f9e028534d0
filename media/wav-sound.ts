/**
 * Reads RIFF WAVE files of any origin: PCM of 8 to 32 bits, floats or G.711, any rate, any number of channels. The output is
 * 16-bit mono at the file's own rate, in blocks.
 */
import { decodeAlaw } from './alaw.ts';
import { decodeMulaw } from './mulaw.ts';
import { clampSample } from './pcm.ts';
import { type FormatClaims, readWave, refused, type WavRefusal } from './riff.ts';

export type SampleCoding = 'u8' | 's16' | 's24' | 's32' | 'f32' | 'f64' | 'mulaw' | 'alaw';

type Format = {
  readonly coding: SampleCoding;
  readonly sampleRateHz: number;
  readonly channels: number;
};

export type WavSound = Format & {
  readonly kind: 'parsed';
  /** View of the file's sound bytes, cut to whole frames. */
  readonly data: Uint8Array;
};

const RATE_HZ = { min: 1_000, max: 384_000 };
const MAX_CHANNELS = 32;

const BYTES: Readonly<Record<SampleCoding, number>> = {
  u8: 1,
  s16: 2,
  s24: 3,
  s32: 4,
  f32: 4,
  f64: 8,
  mulaw: 1,
  alaw: 1,
};

/** Coding by the format's tag and its bits per sample. */
const CODINGS: Readonly<Record<string, SampleCoding>> = {
  '1/8': 'u8',
  '1/16': 's16',
  '1/24': 's24',
  '1/32': 's32',
  '3/32': 'f32',
  '3/64': 'f64',
  '6/8': 'alaw',
  '7/8': 'mulaw',
};

/** Returns the number of bytes of one sample of every channel. */
export const frameBytes = ({ coding, channels }: Format): number => BYTES[coding] * channels;

/** Reads the head of a WAV file. Byte rates and lengths that it states are checked or ignored. */
export const parseWavSound = (bytes: Uint8Array): WavSound | WavRefusal =>
  readWave(bytes, formatOf, frameBytes);

function formatOf({ tag, channels, sampleRateHz, bits }: FormatClaims): Format | WavRefusal {
  const coding = CODINGS[`${tag}/${bits}`];
  if (coding === undefined) {
    return refused(`format ${tag} of ${bits} bits is not PCM, float, mu-law or A-law`);
  }
  if (channels < 1 || channels > MAX_CHANNELS) return refused(`it claims ${channels} channels`);
  if (sampleRateHz < RATE_HZ.min || sampleRateHz > RATE_HZ.max) {
    return refused(`${sampleRateHz} Hz is outside ${RATE_HZ.min} to ${RATE_HZ.max}`);
  }
  return { coding, sampleRateHz, channels };
}

/** Yields the audio as 16-bit mono blocks. Channels are averaged, and the last block may be shorter. */
export function* monoBlocks(wav: WavSound, framesPerBlock: number): Generator<Int16Array> {
  const { channels, coding, data } = wav;
  const width = frameBytes(wav);
  for (let at = 0; at < data.length; at += framesPerBlock * width) {
    const block = data.subarray(at, at + framesPerBlock * width);
    const samples = decode(block, coding);
    yield channels === 1 ? samples : mixedDown(samples, channels);
  }
}

function mixedDown(samples: Int16Array, channels: number): Int16Array {
  const mono = new Int16Array(samples.length / channels);
  for (let i = 0; i < mono.length; i++) {
    let sum = 0;
    for (let c = 0; c < channels; c++) sum += samples[i * channels + c] as number;
    mono[i] = Math.round(sum / channels);
  }
  return mono;
}

function decode(bytes: Uint8Array, coding: SampleCoding): Int16Array {
  const width = BYTES[coding];
  const samples = new Int16Array(bytes.length / width);
  if (coding === 'mulaw') decodeMulaw(bytes, samples);
  else if (coding === 'alaw') decodeAlaw(bytes, samples);
  else {
    const read = READERS[coding];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < samples.length; i++) samples[i] = read(view, i * width);
  }
  return samples;
}

type Reader = (view: DataView, at: number) => number;

const READERS: Readonly<Record<Exclude<SampleCoding, 'mulaw' | 'alaw'>, Reader>> = {
  u8: (view, at) => (view.getUint8(at) - 128) << 8,
  s16: (view, at) => view.getInt16(at, true),
  s24: (view, at) => view.getInt16(at + 1, true),
  s32: (view, at) => view.getInt16(at + 2, true),
  f32: (view, at) => clampSample(view.getFloat32(at, true) * 32_768),
  f64: (view, at) => clampSample(view.getFloat64(at, true) * 32_768),
};
