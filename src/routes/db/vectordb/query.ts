import { route } from '../../../http/route/route.ts';
import type { Memory } from '../../../memory/memory.ts';
import { memoryOperation } from './memory-operation.ts';

/** The chunks of memories and documents that a query finds. */
export const memoryQuery = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/query',
  summary: 'Find memories',
  permission: 'read',
  ...memoryOperation('query'),
});
