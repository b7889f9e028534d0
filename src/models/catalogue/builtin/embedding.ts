import type { ModelEntry } from './builtin-model.ts';
import { direct, listed, openWeight, unpriced } from './builtin-model.ts';

const COPIED = listed('zilliz.com/ai-models+docs.praison.ai', '2026-11-25');

export const EMBEDDING_MODELS: readonly ModelEntry[] = [
  direct(
    'embedding',
    'openai/text-embedding-3-small',
    { text_input_token: '0.02' },
    { price: COPIED },
  ),
  direct(
    'embedding',
    'openai/text-embedding-3-large',
    { text_input_token: '0.13' },
    { price: COPIED },
  ),
  ...openWeight([
    ...unpriced('embedding', 'baai', 'bge-m3'),
    ...unpriced('embedding', 'intfloat', 'multilingual-e5-large'),
    ...unpriced('embedding', 'qwen', 'qwen3-embedding-8b'),
  ]),
];
