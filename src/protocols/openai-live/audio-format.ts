import type { SoundFormat } from '../../../media/coding.ts';

/** The audio formats of the protocol: PCM of 16 bits at 16 or 24 kHz, and both laws of G.711. */
type AudioFormat =
  | { readonly type: 'audio/pcm'; readonly rate: number }
  | { readonly type: 'audio/pcmu'; readonly rate: number }
  | { readonly type: 'audio/pcma'; readonly rate: number };

const TELEPHONE_HZ = 8_000;
const PCM_HZ: ReadonlySet<number> = new Set([16_000, 24_000]);

/** Parses an audio format of the protocol; undefined when it is invalid. A missing rate becomes the default rate. */
export function parseLiveFormat({
  type,
  rate,
}: {
  readonly type: AudioFormat['type'];
  readonly rate?: number | undefined;
}): SoundFormat | undefined {
  if (type === 'audio/pcm') {
    const sampleRateHz = rate ?? 24_000;
    return PCM_HZ.has(sampleRateHz) ? { encoding: 'linear16', sampleRateHz } : undefined;
  }
  if ((rate ?? TELEPHONE_HZ) !== TELEPHONE_HZ) return undefined;
  const encoding = type === 'audio/pcmu' ? 'mulaw' : 'alaw';
  return { encoding, sampleRateHz: TELEPHONE_HZ };
}

const TYPES = { linear16: 'audio/pcm', mulaw: 'audio/pcmu', alaw: 'audio/pcma' } as const;

export const renderLiveFormat = ({ encoding, sampleRateHz }: SoundFormat): AudioFormat => ({
  type: TYPES[encoding],
  rate: sampleRateHz,
});

const SILENCE = { linear16: 0, mulaw: 0xff, alaw: 0xd5 } as const;

/** Returns silence of the same duration as the audio in `bytes`. */
export const silenceLike = (bytes: Uint8Array, { encoding }: SoundFormat): Uint8Array =>
  new Uint8Array(bytes.length).fill(SILENCE[encoding]);
