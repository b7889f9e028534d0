/** Reads and writes RIFF WAVE files: mono or stereo, 16-bit PCM or G.711. */
import { bytesPerSample, SOUND_CODINGS, type SoundCoding, SoundReader } from './coding.ts';
import { writePcmBytes } from './pcm.ts';
import { type FormatClaims, readWave, refused, type WavRefusal } from './riff.ts';

export type Wav = {
  readonly kind: 'parsed';
  readonly coding: SoundCoding;
  readonly sampleRateHz: number;
  readonly channels: 1 | 2;
  /** View of the file's sound bytes, cut to whole sample frames. */
  readonly data: Uint8Array;
  /** True when the header states more audio than the file has. The existing audio was read. */
  readonly truncated: boolean;
};

const RATE_HZ = { min: 8_000, max: 48_000 };
const TAG: Readonly<Record<SoundCoding, number>> = { linear16: 1, alaw: 6, mulaw: 7 };
/** Value of a size field whose size is not known. */
const UNKNOWN_BYTES = 0xffff_ffff;

type Format = Pick<Wav, 'coding' | 'sampleRateHz' | 'channels'>;

const bytesPerFrame = (format: Format) => bytesPerSample(format.coding) * format.channels;

/** Reads a WAV file. A refusal has a sentence for each kind of error. */
export const parseWav = (bytes: Uint8Array): Wav | WavRefusal =>
  readWave(bytes, formatOf, bytesPerFrame);

function formatOf({ tag, channels, sampleRateHz, bits }: FormatClaims): Format | WavRefusal {
  const coding = SOUND_CODINGS.find((name) => TAG[name] === tag);
  if (coding === undefined) return refused(`format ${tag} is not PCM, mu-law or A-law`);
  const wantedBits = 8 * bytesPerSample(coding);
  if (bits !== wantedBits) return refused(`${bits} bits a sample where ${wantedBits} are read`);
  if (channels !== 1 && channels !== 2)
    return refused(`${channels} channels where 1 or 2 are read`);
  if (sampleRateHz < RATE_HZ.min || sampleRateHz > RATE_HZ.max) {
    return refused(`${sampleRateHz} Hz is outside ${RATE_HZ.min} to ${RATE_HZ.max}`);
  }
  return { coding, sampleRateHz, channels };
}

/** Returns all sound of a WAV file as mono samples at the file's own rate. Two channels are averaged. */
export function wavSamples(wav: Wav): Int16Array {
  const reader = new SoundReader(wav.coding);
  const all = new Int16Array(reader.samplesIn(wav.data.length));
  reader.push(wav.data, all);
  if (wav.channels === 1) return all;
  return Int16Array.from(
    { length: all.length >> 1 },
    (_, i) => ((all[2 * i] as number) + (all[2 * i + 1] as number)) >> 1,
  );
}

/**
 * Returns the header of `dataBytes` bytes of audio, mono by default: 44 bytes for PCM, 58 for G.711. `dataBytes` is null while
 * the length is unknown, as in a file that is sent while it is made.
 */
export function wavHeader(sound: {
  readonly coding: SoundCoding;
  readonly sampleRateHz: number;
  readonly dataBytes: number | null;
  readonly channels?: 1 | 2;
}): Uint8Array {
  const linear = sound.coding === 'linear16';
  const { channels = 1 } = sound;
  const sampleBytes = bytesPerSample(sound.coding);
  const width = sampleBytes * channels;
  // Formats other than PCM require an extension length and a fact chunk.
  const formatBytes = linear ? 16 : 18;
  const bytes = new Uint8Array(linear ? 44 : 58);
  const view = new DataView(bytes.buffer);
  let at = 0;
  const letters = (text: string) => {
    for (let i = 0; i < 4; i++) bytes[at++] = text.charCodeAt(i);
  };
  const number = (value: number) => {
    view.setUint32(at, value, true);
    at += 4;
  };
  letters('RIFF');
  const { dataBytes } = sound;
  number(dataBytes === null ? UNKNOWN_BYTES : bytes.length - 8 + dataBytes + (dataBytes & 1));
  letters('WAVE');
  letters('fmt ');
  number(formatBytes);
  number(TAG[sound.coding] | (channels << 16));
  number(sound.sampleRateHz);
  number(sound.sampleRateHz * width);
  number(width | ((sampleBytes * 8) << 16));
  if (!linear) {
    at += 2;
    letters('fact');
    number(4);
    // The fact chunk holds the number of samples of each channel.
    number(dataBytes === null ? UNKNOWN_BYTES : dataBytes / width);
  }
  letters('data');
  number(dataBytes ?? UNKNOWN_BYTES);
  return bytes;
}

/** Returns a complete mono 16-bit file. */
export function encodeWav(samples: Int16Array, sampleRateHz: number): Uint8Array {
  const dataBytes = samples.length * 2;
  const header = wavHeader({ coding: 'linear16', sampleRateHz, dataBytes });
  const file = new Uint8Array(header.length + dataBytes);
  file.set(header);
  writePcmBytes(samples, file.subarray(header.length));
  return file;
}
