import { route } from '../../../http/route/route.ts';
import type { Memory } from '../../../memory/memory.ts';
import { memoryOperation } from './memory-operation.ts';

/** Searches memories and documents, and returns the chunks that match a query. */
export const memoryQuery = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/query',
  summary: 'Find memories',
  permission: 'read',
  ...memoryOperation('query'),
});
