import type { ModelEntry } from './builtin-model.ts';
import { direct, perMinute, tokens, unpriced, unpricedDirect } from './builtin-model.ts';

const named = (maker: string, names: string) => unpriced('realtime', maker, names);

export const REALTIME_MODELS: readonly ModelEntry[] = [
  direct(
    'realtime',
    'openai/gpt-realtime',
    { ...tokens('4', '16', '0.4'), audio_input_token: '32', audio_output_token: '64' },
    { provider: 'openai-realtime', maxOutputTokens: 4_096 },
  ),
  direct('realtime', 'xai/grok-voice', perMinute(50_000), { provider: 'xai-realtime' }),
  ...unpricedDirect(
    'realtime',
    'openai',
    'gpt-realtime-2.1 gpt-realtime-2.1-mini gpt-realtime-translate gpt-realtime-whisper',
    'openai-realtime',
  ),
  ...named('google', 'gemini-live gemini-live-3.1'),
  ...named('amazon', 'nova-2-sonic'),
];
