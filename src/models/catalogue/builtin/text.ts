import { effortsBetween } from '../../providers/efforts.ts';
import type { ModelEntry } from './builtin-model.ts';
import { openWeight, unpriced, unpricedDirect } from './builtin-model.ts';
import { chatTable } from './chat-table.ts';

const named = (maker: string, names: string) => unpriced('text', maker, names);
const waiting = (maker: string, names: string) => unpricedDirect('text', maker, names);

// When one answer may fill the whole window, the row has the window and no limit of the answer.

/** Surcharge on the whole request when its prompt is longer than `above`. */
const LONG_GPT = { longPrompt: { above: 272_000, inputPercent: 200, outputPercent: 150 } };
/** Surcharges of models that write every prompt to their cache and bill the writing. */
const CACHING_GPT = { ...LONG_GPT, cacheWritePercent: 25 };
const LONG_HAIKU = { longPrompt: { above: 100_000, inputPercent: 500, outputPercent: 500 } };
const LONG_GEMINI = { longPrompt: { above: 200_000, inputPercent: 200, outputPercent: 150 } };
const LONG_GROK = { longPrompt: { above: 200_000, inputPercent: 200, outputPercent: 200 } };
/**
 * Models that think unless the request disables thinking (api-docs.deepseek.com, platform.kimi.ai and docs.bigmodel.cn, read
 * on 2026-11-26).
 */
const SWITCHED = { thinkingSwitch: true };

// Efforts that a model takes over the Responses API: for GPT-5.6, GPT-6 Luna and Sol by docs.oxen.ai, for GPT-6.1 by
// dev.to/aihubmix, for GPT-6 Astra by models.dev, for older models by learn.microsoft.com (azure/ai-projects) and
// reference.langchain.com (read on 2026-11-27). The GPT-4o models do not think. Over chat completions no model takes `max`. The
// models take `temperature` and `top_p` only without thinking (https://github.com/vercel/ai/issues/10932, read on 2026-11-28).
const THINKING = { sampling: 'unless_thinking' } as const;
const UP_TO_XHIGH = effortsBetween('none', 'xhigh').filter((effort) => effort !== 'minimal');
const UP_TO_MAX = effortsBetween('none', 'max').filter((effort) => effort !== 'minimal');
const GPT_5 = { ...THINKING, efforts: UP_TO_XHIGH };
const GPT_6 = { ...THINKING, efforts: UP_TO_MAX };
const ALWAYS_THINKING = { ...THINKING, efforts: effortsBetween('low', 'max') };

const OPENAI: readonly ModelEntry[] = [
  ...chatTable('openai', [
    'gpt-4o  2.5  10  1.25  128_000  16_384  list  models.dev+truefoundry/models  2026-11-24',
  ]),
  ...chatTable(
    'openai',
    [
      'gpt-5.4-mini  0.75  4.5   0.075  400_000  128_000  list  docs.venice.ai+api-evangelist/openai  2026-11-24',
      'gpt-5.4-nano  0.2   1.25  0.02   400_000  128_000  list  openrouter.ai+api-evangelist/openai   2026-11-24',
    ],
    GPT_5,
  ),
  ...chatTable(
    'openai',
    [
      'gpt-5.3-codex  1.75  14  0.175  400_000  128_000  list  models.dev+truefoundry/models  2026-11-24',
    ],
    { ...THINKING, efforts: effortsBetween('low', 'xhigh') },
  ),
  ...chatTable(
    'openai',
    [
      'gpt-4o-mini  0.15  0.6  0.075  128_000  16_384  list  models.dev+truefoundry/models  2026-11-24',
    ],
    // Each of up to eight tiles counts as 5,667 tokens, and the image itself as 2,833.
    { imageTokens: 48_169 },
  ),
  ...chatTable(
    'openai',
    [
      'gpt-5.5  5    30  0.5   1_050_000  128_000  list  truefoundry/models+api-evangelist/openai  2026-11-24',
      'gpt-5.4  2.5  15  0.25  1_050_000  128_000  list  truefoundry/models+api-evangelist/openai  2026-11-24',
    ],
    { ...GPT_5, ...LONG_GPT },
  ),
  ...chatTable(
    'openai',
    [
      'gpt-6-luna     0.1  0.5  0.01  1_050_000  128_000  list         developers.openai.com/api/docs/models/gpt-6-luna    2026-11-24',
      'gpt-6-sol      2    10   0.2   1_050_000  128_000  list         truefoundry/models+TheKrush/PromptFuel              2026-11-24',
      'gpt-5.6-luna   0.2  1.2  0.02  1_050_000  128_000  list         developers.openai.com/api/docs/models/gpt-5.6-luna  2026-11-24',
      'gpt-5.6-terra  2    12   0.2   1_050_000  128_000  list         docs.laozhang.ai+docs.venice.ai                     2026-11-24',
      // Price of 4 and 20 until at least 2026-11-21; the price after that day was not found.
      'gpt-5.6-sol    5    30   0.5   1_050_000  128_000  unconfirmed  developers.openai.com/api/docs/models/gpt-5.6-sol   2026-11-24',
    ],
    { ...GPT_6, ...CACHING_GPT },
  ),
  ...chatTable(
    'openai',
    [
      'gpt-6-astra    10  50  1     1_050_000  128_000  list  models.dev+truefoundry/models                 2026-11-24',
      'gpt-6.1-sol    2   10  0.1   1_050_000  128_000  list  truefoundry/models+amine123max/Codex-Manager  2026-11-24',
      'gpt-6.1-terra  1   5   0.05  1_050_000  128_000  list  docs.litellm.ai+apidog.com                    2026-11-24',
    ],
    { ...ALWAYS_THINKING, ...CACHING_GPT },
  ),
];

// Least tokens of a prompt that a model caches, by docs.litellm.ai (read on 2026-11-26; not confirmed by Anthropic). The other
// models have the usual minimum of most vendors.
const SHORT_CACHED = { cacheLeastTokens: 512 };
const LONG_CACHED = { cacheLeastTokens: 2_048 };
const LONGEST_CACHED = { cacheLeastTokens: 4_096 };

// Efforts that a model takes, by platform.claude.com/docs/en/build-with-claude/effort (read on 2026-11-27): claude-haiku-4-5
// takes none, models of version 4.6 have no `xhigh`.
const OF_CLAUDE = effortsBetween('low', 'max');
const NO_XHIGH = OF_CLAUDE.filter((effort) => effort !== 'xhigh');

// Acceptance of `temperature` and `top_p`, by platform.claude.com/docs/en/about-claude/models/migration-guide and the pages of
// the models (read on 2026-11-28): models of version 4.5 and 4.6 take one of the two, models from Opus 4.7 on take none.
const ONE_SAMPLED = { sampling: 'either' } as const;
const UNSAMPLED = { efforts: OF_CLAUDE, sampling: 'neither' } as const;

const ANTHROPIC: readonly ModelEntry[] = [
  ...chatTable(
    'anthropic',
    [
      'claude-haiku-4-5  1  5  0.1  200_000  64_000  list  platform.claude.com/docs/en/models/haiku-4-5/overview  2026-11-24',
    ],
    { ...ONE_SAMPLED, ...LONGEST_CACHED },
  ),
  ...chatTable(
    'anthropic',
    ['claude-opus-4-6  5  25  0.5  -  128_000  list  models.dev+truefoundry/models  2026-11-24'],
    { ...ONE_SAMPLED, efforts: NO_XHIGH, ...LONGEST_CACHED },
  ),
  ...chatTable(
    'anthropic',
    ['claude-sonnet-4-6  3  15  0.3  -  64_000  list  models.dev+truefoundry/models  2026-11-24'],
    { ...ONE_SAMPLED, efforts: NO_XHIGH },
  ),
  ...chatTable(
    'anthropic',
    [
      'claude-opus-4-7    5   25  0.5   1_000_000  128_000  list  models.dev+truefoundry/models                                          2026-11-24',
    ],
    { ...UNSAMPLED, ...LONG_CACHED },
  ),
  ...chatTable(
    'anthropic',
    [
      'claude-opus-5      5   25  0.5   1_000_000  128_000  list  platform.claude.com/docs/en/models/opus-5/overview                     2026-11-24',
      'claude-fable-5     10  50  1     1_000_000  128_000  list  platform.claude.com/docs/en/models/opus-5/overview+truefoundry/models  2026-11-24',
    ],
    { ...UNSAMPLED, ...SHORT_CACHED },
  ),
  ...chatTable(
    'anthropic',
    [
      'claude-sonnet-5    2   10  0.2   1_000_000  128_000  list  platform.claude.com/docs/en/models/sonnet-5/overview                   2026-11-24',
      'claude-sonnet-5-5  2   10  0.2   1_000_000  128_000  list  platform.claude.com/docs/en/models/opus-5/overview+truefoundry/models  2026-11-24',
      'claude-opus-4-8    5   25  0.5   1_000_000  128_000  list  models.dev+truefoundry/models                                          2026-11-24',
      'claude-opus-5-5    4   20  0.2   1_000_000  128_000  list  platform.claude.com/docs/en/models/opus-5/overview+truefoundry/models  2026-11-24',
      'claude-fable-5-1   10  50  0.25  1_000_000  128_000  list  platform.claude.com/docs/en/models/opus-5/overview+truefoundry/models  2026-11-24',
    ],
    UNSAMPLED,
  ),
  ...chatTable(
    'anthropic',
    [
      'claude-haiku-5-5  0.1  0.5  0.01  1_000_000  128_000  list  platform.claude.com/docs/en/models/haiku-5-5/overview+apidog.com  2026-11-24',
    ],
    { ...UNSAMPLED, ...LONG_HAIKU },
  ),
];

const GOOGLE: readonly ModelEntry[] = [
  ...chatTable('google', [
    'gemini-2.5-flash       0.3   2.5  0.03   1_048_576  65_536  list         api-evangelist/deepmind+models.dev          2026-11-24',
    'gemini-3.5-flash       1.5   9    0.15   1_048_576  65_536  list         api-evangelist/deepmind+truefoundry/models  2026-11-24',
    'gemini-3.5-flash-lite  0.3   2.5  0.03   1_048_576  65_536  list         api-evangelist/deepmind+models.dev          2026-11-24',
    'gemini-3.1-flash-lite  0.25  1.5  0.025  1_048_576  65_536  unconfirmed  models.dev                                  2026-11-24',
    // Price from 2027-01-01; until then the vendor charges half of it.
    'gemini-3.8-flash       1.5   7.5  0.15   1_048_576  65_536  list         api-evangelist/deepmind+models.dev          2026-11-24',
  ]),
  ...chatTable(
    'google',
    [
      'gemini-2.5-pro          1.25  10  0.125  1_048_576  65_536  list  api-evangelist/deepmind+truefoundry/models  2026-11-24',
      'gemini-3.1-pro-preview  2     12  0.2    1_048_576  65_536  list  api-evangelist/deepmind+truefoundry/models  2026-11-24',
    ],
    LONG_GEMINI,
  ),
];

const XAI: readonly ModelEntry[] = [
  ...chatTable(
    'xai',
    [
      'grok-4.7  2     6    0.5  500_000    -       list         models.dev+truefoundry/models      2026-11-24',
      // One copy of the price list discounts cached tokens of this model to 0.3.
      'grok-4.5  2     6    0.5  500_000    -       unconfirmed  models.dev+truefoundry/models      2026-11-24',
      'grok-4.3  1.25  2.5  0.2  1_000_000  30_000  list         docs.apiyi.com+truefoundry/models  2026-11-24',
    ],
    LONG_GROK,
  ),
  ...chatTable('xai', [
    'grok-build-0.1  1  2  0.2  256_000  -  list  models.dev+docs.apiyi.com  2026-11-24',
  ]),
];

/** Mistral's models under their dated names, because the prices of `-latest` change with the model that it names. */
const MISTRAL: readonly ModelEntry[] = [
  ...chatTable('mistral', [
    'mistral-large=mistral-large-2512          0.5  1.5  0.05  262_144  -       list  models.dev+truefoundry/models  2026-11-24',
    'mistral-medium=mistral-medium-2604        1.5  7.5  0.15  262_144  -       list  models.dev+openrouter.ai       2026-11-24',
    'magistral-medium=magistral-medium-latest  2    5    0.2   128_000  16_384  list  models.dev+lava.so             2026-11-24',
    'codestral=codestral-2508                  0.3  0.9  0.03  128_000  -       list  models.dev+skills.sh           2026-11-24',
  ]),
];

/** Models with published weights that their makers sell. */
const OPEN_AT_MAKER: readonly ModelEntry[] = openWeight([
  ...chatTable('mistral', [
    'mistral-small=mistral-small-2603  0.15  0.6  0.015  256_000  -  list  models.dev+openrouter.ai  2026-11-25',
  ]),
  // Rates of the peak hours (01-04 and 06-10 UTC); the vendor charges half of them at other hours.
  ...chatTable(
    'deepseek',
    [
      'deepseek-v4-pro    1.32  3.96  0.044  1_000_000  384_000  unconfirmed  models.dev  2026-11-24',
      'deepseek-v4-flash  0.44  1.32  0.014  1_000_000  384_000  unconfirmed  models.dev  2026-11-24',
    ],
    SWITCHED,
  ),
  // This model refuses a request that disables thinking.
  ...chatTable('moonshot', [
    'kimi-k2.7-code  0.95  4  0.19  262_144  -  list  models.dev+platform.kimi.ai(copied)  2026-11-24',
  ]),
  ...chatTable(
    'moonshot',
    [
      'kimi-k2.6  0.95  4  0.16  262_144  -  unconfirmed  models.dev  2026-11-24',
      'kimi-k2.5  0.6   3  0.1   262_144  -  unconfirmed  models.dev  2026-11-24',
    ],
    SWITCHED,
  ),
  // This model always thinks, so it has no switch.
  ...chatTable('zai', [
    'glm-5.3  1.4  4.4  0.26  1_000_000  128_000  list  models.dev+openrouter.ai  2026-11-24',
  ]),
  ...chatTable(
    'zai',
    [
      'glm-5.2      1.4  4.4  0.26  1_000_000  128_000  list         models.dev+docs.wolffi.sh+docs.bigmodel.cn  2026-11-25',
      'glm-4.6      0.6  2.2  0.11  204_800    131_072  unconfirmed  models.dev                                  2026-11-24',
      'glm-4.5-air  0.2  1.1  0.03  131_072    98_304   unconfirmed  models.dev                                  2026-11-24',
    ],
    SWITCHED,
  ),
  ...chatTable('cohere', [
    'command-a=command-a-03-2025      2.5     10    -  256_000  8_000  list  models.dev+truefoundry/models  2026-11-24',
    'command-r=command-r-08-2024      0.15    0.6   -  128_000  4_000  list  models.dev+truefoundry/models  2026-11-24',
    'command-r7b=command-r7b-12-2024  0.0375  0.15  -  128_000  4_000  list  models.dev+truefoundry/models  2026-11-24',
  ]),
  // The published rates of this maker are the caller's price, margin included.
  ...chatTable(
    'sarvam',
    [
      'sarvam-105b  0.048  0.193  -  128_000  -  unconfirmed  test/vectors/catalog/published.json  2026-11-24',
      'sarvam-30b   0.030  0.121  -  64_000   -  unconfirmed  test/vectors/catalog/published.json  2026-11-24',
    ],
    { marginBps: 0 },
  ),
]);

/** Chat models with published weights that no account of this server can buy at a published rate. */
const OPEN: readonly ModelEntry[] = openWeight([
  ...named('openai', 'gpt-oss-120b gpt-oss-20b'),
  ...named('google', 'gemma-4-31b gemma-3-27b gemma-3-12b'),
  ...named('meta', 'llama-3.3-70b llama-4-maverick llama-4-scout llama-3.1-8b'),
  // Models that their makers no longer sell.
  ...named('deepseek', 'deepseek-v3.2 deepseek-v3.1-terminus deepseek-v3.1 deepseek-v3'),
  ...named('deepseek', 'deepseek-r1-0528'),
  ...named('mistral', 'mistral-small-3.2-24b mistral-nemo'),
  ...named('qwen', 'qwen3.6-35b-a3b qwen3.5-397b qwen3.5-9b qwen3-coder-480b qwen3-next-80b'),
  ...named('qwen', 'qwen3-235b-a22b-thinking qwen3-235b-a22b-instruct qwen3-32b qwen-2.5-72b'),
  // Models that are free at their maker, without a paid rate that could be resold.
  ...waiting('zai', 'glm-4.7-flash'),
  ...named('aggregator', 'llama-3.3-70b qwen3-235b'),
  ...named('nvidia', 'nemotron-3-ultra'),
  ...named('microsoft', 'phi-4'),
]);

export const TEXT_MODELS: readonly ModelEntry[] = [
  ...OPENAI,
  ...ANTHROPIC,
  ...GOOGLE,
  ...XAI,
  ...MISTRAL,
  ...OPEN_AT_MAKER,
  ...chatTable('moonshot', [
    'kimi-k3  3  15  0.3  1_048_576  -  unconfirmed  models.dev  2026-11-24',
  ]),
  ...waiting('moonshot', 'moonshot-v1-8k'),
  // Each call also has a fee by its searches, which is not metered here.
  ...waiting('perplexity', 'sonar-reasoning-pro sonar-pro sonar'),
  ...named('minimax', 'minimax-m3'),
  ...OPEN,
];
