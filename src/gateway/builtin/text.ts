import type { ModelEntry, RateTexts } from './builtin-model.ts';
import { direct, openWeight, tokens, unpriced, unpricedDirect } from './builtin-model.ts';

const chat = (id: `${string}/${string}`, rates: RateTexts) => direct('text', id, rates);
const named = (maker: string, names: string) => unpriced('text', maker, names);
const waiting = (maker: string, names: string) => unpricedDirect('text', maker, names);

/** Chat models with a published rate. */
const PRICED: readonly ModelEntry[] = [
  direct('text', 'openai/gpt-4o', tokens('2.5', '10', '1.25'), { contextWindow: 128_000 }),
  chat('openai/gpt-4o-mini', tokens('0.15', '0.6', '0.075')),
  chat('openai/gpt-5.5', tokens('5', '30', '0.5')),
  chat('openai/gpt-5.4', tokens('2.5', '15', '0.25')),
  chat('openai/gpt-5.4-mini', tokens('0.75', '4.5', '0.075')),
  chat('openai/gpt-5.4-nano', tokens('0.2', '1.25', '0.02')),
  chat('anthropic/claude-haiku-4-5', tokens('1', '5', '0.1')),
  chat('anthropic/claude-sonnet-4-6', tokens('3', '15', '0.3')),
  chat('anthropic/claude-sonnet-5', tokens('2', '10', '0.2')),
  chat('anthropic/claude-opus-4-6', tokens('5', '25', '0.5')),
  chat('anthropic/claude-opus-4-7', tokens('5', '25', '0.5')),
  chat('anthropic/claude-opus-4-8', tokens('5', '25', '0.5')),
  chat('google/gemini-2.5-flash', tokens('0.3', '2.5', '0.03')),
  chat('google/gemini-2.5-pro', tokens('1.25', '10', '0.125')),
  chat('google/gemini-3.5-flash', tokens('1.5', '9', '0.15')),
  chat('google/gemini-3.1-pro-preview', tokens('2', '12', '0.2')),
  chat('google/gemini-3.1-flash-lite', tokens('0.25', '1.5', '0.025')),
  // This maker's published rates are what the caller pays, margin included.
  ...openWeight([
    direct('text', 'sarvam/sarvam-105b', tokens('0.048', '0.193'), {
      ...{ contextWindow: 128_000, marginBps: 0 },
    }),
    direct('text', 'sarvam/sarvam-30b', tokens('0.030', '0.121'), {
      ...{ contextWindow: 64_000, marginBps: 0 },
    }),
  ]),
];

/** Chat models with published weights, which any host may serve. */
const OPEN: readonly ModelEntry[] = openWeight([
  ...named('openai', 'gpt-oss-120b gpt-oss-20b'),
  ...named('google', 'gemma-4-31b gemma-3-27b gemma-3-12b'),
  ...named('meta', 'llama-3.3-70b llama-4-maverick llama-4-scout llama-3.1-8b'),
  ...waiting('deepseek', 'deepseek-v4-pro deepseek-v4-flash deepseek-v3.2 deepseek-v3.1-terminus'),
  ...waiting('deepseek', 'deepseek-v3.1 deepseek-v3 deepseek-r1-0528'),
  ...named('qwen', 'qwen3.6-35b-a3b qwen3.5-397b qwen3.5-9b qwen3-coder-480b qwen3-next-80b'),
  ...named('qwen', 'qwen3-235b-a22b-thinking qwen3-235b-a22b-instruct qwen3-32b qwen-2.5-72b'),
  ...waiting('mistral', 'mistral-small mistral-small-3.2-24b mistral-nemo'),
  ...waiting('moonshot', 'kimi-k2.7-code kimi-k2.6 kimi-k2.5'),
  ...waiting('zai', 'glm-5.3 glm-5.2 glm-4.7-flash glm-4.6 glm-4.5-air'),
  ...waiting('cohere', 'command-a command-r command-r7b'),
  ...named('aggregator', 'llama-3.3-70b qwen3-235b'),
  ...named('nvidia', 'nemotron-3-ultra'),
  ...named('microsoft', 'phi-4'),
]);

export const TEXT_MODELS: readonly ModelEntry[] = [
  ...PRICED,
  ...waiting('openai', 'gpt-5.3-codex gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra'),
  ...waiting('anthropic', 'claude-fable-5'),
  ...waiting('mistral', 'mistral-large mistral-medium magistral-medium codestral'),
  ...waiting('moonshot', 'kimi-k3 moonshot-v1-8k'),
  ...waiting('xai', 'grok-4.5 grok-4.3 grok-build-0.1'),
  ...waiting('perplexity', 'sonar-reasoning-pro sonar-pro sonar'),
  ...named('minimax', 'minimax-m3'),
  ...OPEN,
];
