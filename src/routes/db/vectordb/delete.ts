import { route } from '../../../http/route/route.ts';
import type { Memory } from '../../../memory/memory.ts';
import { memoryOperation } from './memory-operation.ts';

/** Deletes memories or documents for good. */
export const memoryDelete = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/delete',
  summary: 'Delete memories',
  ...memoryOperation('delete'),
});
