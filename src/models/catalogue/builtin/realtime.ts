import { type Effort, effortsBetween } from '../../providers/efforts.ts';
import type { ModelEntry } from './builtin-model.ts';
import { direct, listed, perMinute, tokens, unconfirmed, unpriced } from './builtin-model.ts';

const named = (maker: string, names: string) => unpriced('realtime', maker, names);

const openai = (
  name: string,
  text: readonly [input: string, output: string, cached: string],
  sound: readonly [input: string, output: string],
  limits: {
    readonly contextWindow: number;
    readonly maxOutputTokens: number;
    readonly efforts?: readonly Effort[];
  },
) =>
  direct(
    'realtime',
    `openai/${name}`,
    { ...tokens(...text), audio_input_token: sound[0], audio_output_token: sound[1] },
    {
      provider: 'openai-realtime',
      ...limits,
      price: listed(`developers.openai.com/api/docs/models/${name}`, '2026-11-24'),
    },
  );

/** Bounds of models that reason. They bill reasoning tokens that appear in no frame. */
const LARGE = {
  contextWindow: 128_000,
  maxOutputTokens: 32_000,
  efforts: effortsBetween('minimal', 'xhigh'),
};
const SMALL = { contextWindow: 32_000, maxOutputTokens: 4_096 };

export const REALTIME_MODELS: readonly ModelEntry[] = [
  openai('gpt-realtime-2.1', ['4', '24', '0.4'], ['32', '64'], LARGE),
  // Cached audio costs 0.3 and cached text 0.06. One rate covers both, so the higher price is used.
  openai('gpt-realtime-2.1-mini', ['0.6', '2.4', '0.3'], ['10', '20'], LARGE),
  openai('gpt-realtime-1.5', ['4', '16', '0.4'], ['32', '64'], SMALL),
  openai('gpt-realtime', ['4', '16', '0.4'], ['32', '64'], SMALL),
  direct('realtime', 'openai/gpt-live-1', perMinute(50_000), {
    provider: 'openai-live',
    price: listed('developers.openai.com/api/docs/models/gpt-live-1', '2026-11-26'),
  }),
  direct('realtime', 'xai/grok-voice', perMinute(50_000), {
    provider: 'xai-realtime',
    price: unconfirmed('test/vectors/catalog/published.json', '2026-11-24'),
  }),
  // The vendors of these models serve them in other kinds of sessions, which this server does not relay.
  ...named('openai', 'gpt-realtime-translate gpt-realtime-whisper gpt-live-transcribe'),
  ...named('google', 'gemini-live gemini-live-3.1'),
  ...named('amazon', 'nova-2-sonic'),
];
