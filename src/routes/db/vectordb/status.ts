import { route } from '../../../http/route/route.ts';
import type { Memory } from '../../../memory/memory.ts';
import { memoryOperation } from './memory-operation.ts';

/** Reads the progress of the indexing of memories. */
export const memoryStatus = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/status',
  summary: 'How memories stand',
  permission: 'read',
  ...memoryOperation('status'),
});
