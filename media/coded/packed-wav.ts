import { type dataInFile, type FormatClaims, readWave, refused, type WavRefusal } from '../riff.ts';

const TAG = { msAdpcm: 2, imaAdpcm: 0x11, gsm: 0x31, mp3: 0x55 } as const;
const GSM = { blockBytes: 65, samples: 320 };

/** Sound whose samples are packed: into frames of MP3, or into blocks. */
type Packing =
  | { readonly isMp3: true }
  | {
      readonly isMp3: false;
      readonly sampleRateHz: number;
      readonly blockBytes: number;
      /** Number of samples of one channel in the first `bytes` bytes of a block. */
      readonly samplesIn: (bytes: number) => number;
    };

export type PackedWav = Packing & ReturnType<typeof dataInFile> & { readonly kind: 'parsed' };

/** Reads the head of a WAV file with MP3, GSM 06.10 or the ADPCM of Microsoft or IMA inside. */
export const parsePackedWav = (bytes: Uint8Array): PackedWav | WavRefusal =>
  readWave(bytes, packingOf, () => 1);

function packingOf(claims: FormatClaims): Packing | WavRefusal {
  const { blockBytes, channels, sampleRateHz, tag } = claims;
  if (tag === TAG.mp3) return { isMp3: true };
  if (sampleRateHz === 0 || channels === 0) return refused('it states no rate or no channel');
  if (tag === TAG.gsm) {
    const samplesIn = (bytes: number) => (bytes < GSM.blockBytes ? 0 : GSM.samples);
    return { isMp3: false, sampleRateHz, blockBytes: GSM.blockBytes, samplesIn };
  }
  if (tag !== TAG.msAdpcm && tag !== TAG.imaAdpcm) return refused(`format ${tag} is unknown`);
  // Each channel of a block begins with samples that are written out; each other sample takes half a byte.
  const [headBytes, headSamples] = tag === TAG.msAdpcm ? [7, 2] : [4, 1];
  const head = headBytes * channels;
  if (blockBytes <= head) return refused(`blocks of ${blockBytes} bytes hold no sound`);
  const samplesIn = (bytes: number) =>
    bytes < head ? 0 : headSamples + Math.floor(((bytes - head) * 2) / channels);
  return { isMp3: false, sampleRateHz, blockBytes, samplesIn };
}
