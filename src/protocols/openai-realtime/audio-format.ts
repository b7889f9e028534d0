import type { SoundFormat } from '../../../media/coding.ts';

/** The audio formats of the realtime protocol. */
type AudioFormat =
  | { readonly type: 'audio/pcm'; readonly rate: 24_000 }
  | { readonly type: 'audio/pcmu' }
  | { readonly type: 'audio/pcma' };

const PCM: SoundFormat = { encoding: 'linear16', sampleRateHz: 24_000 };
const PCMU: SoundFormat = { encoding: 'mulaw', sampleRateHz: 8_000 };
const PCMA: SoundFormat = { encoding: 'alaw', sampleRateHz: 8_000 };

/** Format names that the first clients of the protocol send. */
const LEGACY: Readonly<Record<string, SoundFormat>> = {
  pcm16: PCM,
  g711_ulaw: PCMU,
  g711_alaw: PCMA,
};

/** Parses a format: an object, or a name that the first clients send. Undefined for an unknown format. */
export function parseAudioFormat(value: unknown): SoundFormat | undefined {
  if (typeof value === 'string') return Object.hasOwn(LEGACY, value) ? LEGACY[value] : undefined;
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  if (value.type === 'audio/pcmu') return PCMU;
  if (value.type === 'audio/pcma') return PCMA;
  if (value.type !== 'audio/pcm') return undefined;
  const rate = 'rate' in value ? value.rate : 24_000;
  return rate === 24_000 || rate === undefined || rate === null ? PCM : undefined;
}

export function renderAudioFormat({ encoding }: SoundFormat): AudioFormat {
  switch (encoding) {
    case 'linear16':
      return { type: 'audio/pcm', rate: 24_000 };
    case 'mulaw':
      return { type: 'audio/pcmu' };
    case 'alaw':
      return { type: 'audio/pcma' };
  }
}
