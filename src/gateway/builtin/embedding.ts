import type { ModelEntry } from './builtin-model.ts';
import { direct, openWeight, unpriced } from './builtin-model.ts';

export const EMBEDDING_MODELS: readonly ModelEntry[] = [
  direct('embedding', 'openai/text-embedding-3-small', { text_input_token: '0.02' }),
  direct('embedding', 'openai/text-embedding-3-large', { text_input_token: '0.13' }),
  ...openWeight([
    ...unpriced('embedding', 'baai', 'bge-m3'),
    ...unpriced('embedding', 'intfloat', 'multilingual-e5-large'),
    ...unpriced('embedding', 'qwen', 'qwen3-embedding-8b'),
  ]),
];
