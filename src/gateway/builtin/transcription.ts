import type { ModelEntry } from './builtin-model.ts';
import { direct, unpriced } from './builtin-model.ts';

const named = (maker: string, names: string) => unpriced('stt', maker, names);

/** A published price per minute, in the rate's unit: USD per million seconds, rounded up. */
const perMinute = (usdPerMillionMinutes: number) => ({
  audio_second: (Math.ceil((usdPerMillionMinutes * 1_000_000) / 60) / 1_000_000).toFixed(6),
});

export const TRANSCRIPTION_MODELS: readonly ModelEntry[] = [
  {
    id: 'openai/whisper-large-v3-turbo',
    modality: 'stt',
    sources: [
      {
        rail: 'self-host',
        provider: 'deepinfra',
        upstreamModel: 'openai/whisper-large-v3-turbo',
        rates: perMinute(200),
      },
      {
        rail: 'self-host',
        provider: 'groq',
        upstreamModel: 'whisper-large-v3-turbo',
        // Published as 0.04 USD an hour.
        rates: { audio_second: '11.111112' },
      },
    ],
  },
  {
    id: 'nvidia/parakeet-tdt-0.6b-v3',
    modality: 'stt',
    sources: [
      {
        rail: 'self-host',
        provider: 'together',
        upstreamModel: 'nvidia/parakeet-tdt-0.6b-v3',
        rates: perMinute(1_500),
      },
    ],
  },
  direct('stt', 'openai/whisper-1', perMinute(6_000)),
  direct('stt', 'openai/gpt-4o-mini-transcribe', perMinute(3_000)),
  direct('stt', 'mistral/voxtral-mini-transcribe', perMinute(3_000)),
  direct('stt', 'deepgram/nova-3', perMinute(7_700)),
  ...named('openai', 'whisper-large-v3 gpt-4o-transcribe'),
  ...named('mistral', 'voxtral-small'),
  ...named('nvidia', 'nemotron-3.5-asr'),
];
