import { type FormatClaims, readWave, refused as unread, type WavRefusal } from '../riff.ts';
import { frameBytes, parseWavSound } from '../wav-sound.ts';
import { type Measured, measured, refused } from './measured.ts';
import { mp3Duration } from './mp3.ts';

const TAG = { msAdpcm: 2, imaAdpcm: 0x11, gsm: 0x31, mp3: 0x55 } as const;
const GSM = { blockBytes: 65, samples: 320 };

/** Sound whose samples are packed into blocks: how many of them a block of so many bytes holds. */
type Packed = {
  readonly sampleRateHz: number;
  readonly blockBytes: number;
  readonly samplesIn: ((bytes: number) => number) | undefined;
};

/** Counted from the bytes of sound that are there, whatever the header says of its length or byte rate. */
export function wavDuration(bytes: Buffer): Measured | Promise<Measured> {
  const wav = parseWavSound(bytes);
  if (wav.kind === 'parsed') return measured(wav.data.length / frameBytes(wav) / wav.sampleRateHz);
  const packed = readWave(bytes, packedOf, () => 1);
  if (packed.kind === 'refused') return refused(`The WAV file cannot be read: ${wav.reason}.`);
  const { blockBytes, data, sampleRateHz, samplesIn } = packed;
  if (samplesIn === undefined) {
    return mp3Duration(Buffer.from(data.buffer, data.byteOffset, data.length));
  }
  const blocks = Math.floor(data.length / blockBytes);
  const samples = blocks * samplesIn(blockBytes) + samplesIn(data.length % blockBytes);
  return measured(samples / sampleRateHz);
}

function packedOf(claims: FormatClaims): Packed | WavRefusal {
  const { blockBytes, channels, sampleRateHz, tag } = claims;
  if (tag === TAG.mp3) return { sampleRateHz, blockBytes, samplesIn: undefined };
  if (sampleRateHz === 0 || channels === 0) return unread('it states no rate or no channel');
  if (tag === TAG.gsm) {
    const samplesIn = (bytes: number) => (bytes < GSM.blockBytes ? 0 : GSM.samples);
    return { sampleRateHz, blockBytes: GSM.blockBytes, samplesIn };
  }
  if (tag !== TAG.msAdpcm && tag !== TAG.imaAdpcm) return unread(`format ${tag}`);
  // Each channel of a block begins with samples that are written out; half a byte is one of the others.
  const [headBytes, headSamples] = tag === TAG.msAdpcm ? [7, 2] : [4, 1];
  const head = headBytes * channels;
  if (blockBytes <= head) return unread(`blocks of ${blockBytes} bytes hold no sound`);
  const samplesIn = (bytes: number) =>
    bytes < head ? 0 : headSamples + Math.floor(((bytes - head) * 2) / channels);
  return { sampleRateHz, blockBytes, samplesIn };
}
