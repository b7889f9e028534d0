import type { ModelEntry } from './builtin-model.ts';
import {
  direct,
  hosted,
  listed,
  openWeight,
  perThousandCharacters,
  unconfirmed,
  unpriced,
  unpricedDirect,
} from './builtin-model.ts';

const named = (maker: string, names: string) => unpriced('tts', maker, names);

const HAIL = 'elevenlabs.io/pricing/api(copied:hail-hq/hail)';
const eleven = (name: string, upstreamModel: string, microUsd: number, price = unconfirmed) =>
  direct('tts', `elevenlabs/${name}`, perThousandCharacters(microUsd), {
    upstreamModel,
    price: price(HAIL, '2026-11-24'),
  });

export const SPEECH_MODELS: readonly ModelEntry[] = [
  direct('tts', 'cartesia/sonic-3', perThousandCharacters(30_000), {
    price: unconfirmed('test/vectors/catalog/published.json', '2026-11-24'),
  }),
  direct('tts', 'deepgram/aura-2', perThousandCharacters(30_000), {
    price: unconfirmed('test/vectors/catalog/published.json', '2026-11-24'),
  }),
  eleven('flash-v2.5', 'eleven_flash_v2_5', 50_000),
  eleven('turbo-v2.5', 'eleven_turbo_v2_5', 50_000),
  eleven('multilingual-v2', 'eleven_multilingual_v2', 100_000),
  eleven('v3', 'eleven_v3', 100_000),
  direct('tts', 'rime/mist-v2', perThousandCharacters(30_000), {
    upstreamModel: 'mistv2',
    price: unconfirmed('api-evangelist/rime-ai', '2026-11-24'),
  }),
  hosted('tts', 'kokoro/kokoro-82m', [
    {
      provider: 'deepinfra',
      upstreamModel: 'hexgrad/Kokoro-82M',
      rates: { character: '0.62' },
      price: unconfirmed('test/vectors/catalog/published.json', '2026-11-24'),
    },
  ]),
  direct(
    'tts',
    'openai/tts-1',
    { character: '15' },
    { price: listed('developers.openai.com/api/docs/models/tts-1', '2026-11-25') },
  ),
  ...unpricedDirect('tts', 'openai', 'tts-1-hd gpt-4o-mini-tts'),
  ...named('google', 'gemini-3.1-flash-tts gemini-2.5-flash-tts'),
  ...named('xiaomi', 'mimo-v2.5-tts mimo-v2.5-tts-voiceclone mimo-v2.5-tts-voicedesign'),
  ...named('inworld', 'realtime-tts-2'),
  ...named('boson', 'higgs-audio-v2.5'),
  ...openWeight([
    ...named('resemble', 'chatterbox-multilingual chatterbox-turbo'),
    ...named('canopy', 'orpheus-3b orpheus-v1-english'),
    ...named('sesame', 'csm-1b'),
    ...named('qwen', 'qwen3-tts'),
  ]),
];
