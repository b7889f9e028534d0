import { z } from 'zod';
import { text, unlessEmpty } from './variable-kinds.ts';

/** Environment variables of the agents' memory. */
export const MEMORY_SECTION = {
  MEMORY_INDEX: unlessEmpty(z.enum(['auto', 'packed', 'pgvector']).default('auto')).describe(
    "Where memories are searched by meaning: in the database by pgvector (0.8 or later), or packed in each process's memory. " +
      '`auto` takes pgvector where the database has it or this role can install it.',
  ),
  MEMORY_EMBEDDING_MODEL: text().meta({
    description:
      'The embedding model of new namespaces of memories. Any but `local/use-lite` is bought for the agent, ' +
      'at its cost. See [memory.md](api-behaviour/memory.md#models-that-are-bought).',
    takes: 'an embedding model of the catalogue',
    unset: '`local/use-lite`, free of charge',
  }),
  MEMORY_INFER_MODEL: text().meta({
    description:
      'The chat model that draws facts out of memories with `infer`, bought for the agent. ' +
      'See [memory.md](api-behaviour/memory.md#models-that-are-bought).',
    takes: 'a chat model of the catalogue',
    unset: 'fixed rules, free of charge',
  }),
};
