import type { ModelEntry } from './builtin-model.ts';
import { direct, unpriced } from './builtin-model.ts';

const named = (maker: string, names: string) => unpriced('tts', maker, names);

export const SPEECH_MODELS: readonly ModelEntry[] = [
  direct('tts', 'openai/tts-1', { character: '15' }),
  {
    id: 'kokoro/kokoro-82m',
    modality: 'tts',
    sources: [
      {
        rail: 'self-host',
        provider: 'deepinfra',
        upstreamModel: 'hexgrad/Kokoro-82M',
        rates: { character: '0.62' },
      },
    ],
  },
  ...named('openai', 'tts-1-hd gpt-4o-mini-tts'),
  ...named('google', 'gemini-3.1-flash-tts gemini-2.5-flash-tts'),
  ...named('cartesia', 'sonic-3'),
  ...named('resemble', 'chatterbox-multilingual chatterbox-turbo'),
  ...named('xiaomi', 'mimo-v2.5-tts mimo-v2.5-tts-voiceclone mimo-v2.5-tts-voicedesign'),
  ...named('canopy', 'orpheus-3b orpheus-v1-english'),
  ...named('inworld', 'realtime-tts-2'),
  ...named('boson', 'higgs-audio-v2.5'),
  ...named('sesame', 'csm-1b'),
  ...named('qwen', 'qwen3-tts'),
];
