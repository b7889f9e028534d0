import type { SoundCoding } from '../../../media/coding.ts';

/** The audio formats of the realtime protocol, in its own words. */
export type AudioFormat =
  | { readonly type: 'audio/pcm'; readonly rate: 24_000 }
  | { readonly type: 'audio/pcmu' }
  | { readonly type: 'audio/pcma' };

export type AudioEncoding = SoundCoding;

export const PCM_24K: AudioFormat = { type: 'audio/pcm', rate: 24_000 };

const LEGACY: Readonly<Record<string, AudioFormat>> = {
  pcm16: PCM_24K,
  g711_ulaw: { type: 'audio/pcmu' },
  g711_alaw: { type: 'audio/pcma' },
};

/** Reads a format as today's clients write it, or as a bare word like the first ones did. */
export function parseAudioFormat(value: unknown): AudioFormat | undefined {
  if (typeof value === 'string') return LEGACY[value];
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  if (value.type === 'audio/pcmu' || value.type === 'audio/pcma') return { type: value.type };
  if (value.type !== 'audio/pcm') return undefined;
  const rate = 'rate' in value ? value.rate : 24_000;
  return rate === 24_000 || rate === undefined || rate === null ? PCM_24K : undefined;
}

type Samples = {
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: number;
  readonly bytesPerSecond: number;
};

const SAMPLES: Readonly<Record<AudioFormat['type'], Samples>> = {
  'audio/pcm': { encoding: 'linear16', sampleRateHz: 24_000, bytesPerSecond: 48_000 },
  'audio/pcmu': { encoding: 'mulaw', sampleRateHz: 8_000, bytesPerSecond: 8_000 },
  'audio/pcma': { encoding: 'alaw', sampleRateHz: 8_000, bytesPerSecond: 8_000 },
};

/** What a format means in samples: how a byte codes them, and how many come in a second. */
export const samplesOf = ({ type }: AudioFormat): Samples => SAMPLES[type];
