import { route } from '../../../http/route/route.ts';
import type { Memory } from '../../../memory/memory.ts';
import { memoryOperation } from './memory-operation.ts';

/** How far the indexing of memories has come. */
export const memoryStatus = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/status',
  summary: 'How memories stand',
  permission: 'read',
  ...memoryOperation('status'),
});
