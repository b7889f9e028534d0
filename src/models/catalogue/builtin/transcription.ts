import type { ModelEntry } from './builtin-model.ts';
import {
  direct,
  hosted,
  listed,
  openWeight,
  perMinute,
  unconfirmed,
  unpriced,
  unpricedDirect,
} from './builtin-model.ts';

/** Source of prices that this gateway's interface publishes; no copy of the vendor's own page was found. */
const PUBLISHED = unconfirmed('test/vectors/catalog/published.json', '2026-11-24');

const ASSEMBLY = unconfirmed(
  'assemblyai.com/pricing(copied:api-evangelist/assemblyai)',
  '2026-11-26',
);

/** Converts a published price of one hour in micro-USD to a rate. */
const perHour = (microUsd: number) => perMinute(microUsd / 60);

export const TRANSCRIPTION_MODELS: readonly ModelEntry[] = [
  direct('stt', 'openai/gpt-transcribe', perMinute(4_500), {
    price: listed('developers.openai.com/api/docs/models/gpt-transcribe', '2026-11-24'),
  }),
  hosted('stt', 'openai/whisper-large-v3-turbo', [
    {
      provider: 'deepinfra',
      upstreamModel: 'openai/whisper-large-v3-turbo',
      rates: perMinute(200),
      price: PUBLISHED,
    },
    {
      provider: 'groq',
      upstreamModel: 'whisper-large-v3-turbo',
      // Published as 0.04 USD per hour.
      rates: perMinute(40_000 / 60),
      price: listed('truefoundry/models+published.json', '2026-11-24'),
    },
  ]),
  hosted('stt', 'nvidia/parakeet-tdt-0.6b-v3', [
    {
      provider: 'together',
      upstreamModel: 'nvidia/parakeet-tdt-0.6b-v3',
      rates: perMinute(1_500),
      price: PUBLISHED,
    },
  ]),
  direct('stt', 'mistral/voxtral-mini-transcribe', perMinute(3_000), { price: PUBLISHED }),
  // Price of one minute of a recording. For live audio the vendor charges 0.0048 USD a minute since May 2026, and 0.0058 for
  // many languages.
  direct('stt', 'deepgram/nova-3', perMinute(7_700), {
    price: listed('deepgram.com/pricing(copied:D3velop-llc)+published.json', '2026-11-24'),
  }),
  // The upstream model is the same `nova-3`; the price depends on the requested language.
  direct('stt', 'deepgram/nova-3-multilingual', perMinute(9_200), {
    upstreamModel: 'nova-3',
    price: listed('deepgram.com/pricing(copied:D3velop-llc)+published.json', '2026-11-24'),
  }),
  // Reports turns and words on its own socket.
  direct('stt', 'deepgram/flux-general-en', perMinute(7_700), {
    price: unconfirmed('developers.cloudflare.com/workers-ai/models/flux', '2026-11-26'),
  }),
  direct('stt', 'deepgram/flux-general-multi', perMinute(7_800), {
    price: unconfirmed('llmreference.com/provider/deepgram/flux-asr', '2026-11-26'),
  }),
  direct('stt', 'deepgram/base', perMinute(14_500), { price: PUBLISHED }),
  // The vendor bills the seconds for which the session is open.
  direct('stt', 'assemblyai/universal-streaming', perMinute(2_500), {
    upstreamModel: 'universal-streaming-english',
    price: PUBLISHED,
  }),
  direct('stt', 'assemblyai/universal-3.5-pro', perHour(210_000), {
    provider: 'assemblyai-batch',
    upstreamModel: 'universal-3-5-pro',
    price: ASSEMBLY,
  }),
  direct('stt', 'assemblyai/universal-2', perHour(150_000), {
    provider: 'assemblyai-batch',
    price: ASSEMBLY,
  }),
  direct('stt', 'cartesia/ink-whisper', perHour(135_000), { price: PUBLISHED }),
  direct('stt', 'elevenlabs/scribe-v2', perHour(220_000), {
    upstreamModel: 'scribe_v2',
    price: PUBLISHED,
  }),
  direct('stt', 'openai/whisper-1', perMinute(6_000), {
    price: listed('developers.openai.com/api/docs/models/whisper-1', '2026-11-25'),
  }),
  // The vendor bills tokens, at 1.25 USD per million of audio and 5 of text, and publishes this price per minute as an
  // estimate.
  direct('stt', 'openai/gpt-4o-mini-transcribe', perMinute(3_000), {
    price: unconfirmed('long sold here at this price', '2026-11-24'),
  }),
  ...unpricedDirect('stt', 'openai', 'gpt-4o-transcribe'),
  ...openWeight([
    ...unpriced('stt', 'openai', 'whisper-large-v3'),
    ...unpricedDirect('stt', 'mistral', 'voxtral-small'),
    ...unpriced('stt', 'nvidia', 'nemotron-3.5-asr'),
  ]),
];
