import type { ModelEntry } from './builtin-model.ts';
import {
  direct,
  hosted,
  openWeight,
  perMinute,
  unpriced,
  unpricedDirect,
} from './builtin-model.ts';

export const TRANSCRIPTION_MODELS: readonly ModelEntry[] = [
  hosted('stt', 'openai/whisper-large-v3-turbo', [
    {
      provider: 'deepinfra',
      upstreamModel: 'openai/whisper-large-v3-turbo',
      rates: perMinute(200),
    },
    {
      provider: 'groq',
      upstreamModel: 'whisper-large-v3-turbo',
      // Published as 0.04 USD an hour.
      rates: perMinute(40_000 / 60),
    },
  ]),
  hosted('stt', 'nvidia/parakeet-tdt-0.6b-v3', [
    {
      provider: 'together',
      upstreamModel: 'nvidia/parakeet-tdt-0.6b-v3',
      rates: perMinute(1_500),
    },
  ]),
  direct('stt', 'openai/whisper-1', perMinute(6_000)),
  direct('stt', 'openai/gpt-4o-mini-transcribe', perMinute(3_000)),
  direct('stt', 'mistral/voxtral-mini-transcribe', perMinute(3_000)),
  direct('stt', 'deepgram/nova-3', perMinute(7_700)),
  // The same model upstream: what it costs depends on the language that it is asked for.
  direct('stt', 'deepgram/nova-3-multilingual', perMinute(9_200), { upstreamModel: 'nova-3' }),
  direct('stt', 'deepgram/base', perMinute(14_500)),
  direct('stt', 'assemblyai/universal-streaming', perMinute(2_500)),
  ...unpricedDirect('stt', 'openai', 'gpt-4o-transcribe'),
  ...openWeight([
    ...unpriced('stt', 'openai', 'whisper-large-v3'),
    ...unpricedDirect('stt', 'mistral', 'voxtral-small'),
    ...unpriced('stt', 'nvidia', 'nemotron-3.5-asr'),
  ]),
];
