import { route } from '../../../http/route/route.ts';
import type { Memory } from '../../../memory/memory.ts';
import { memoryOperation } from './memory-operation.ts';

/** Lists the memories and documents of one namespace, newest first. */
export const memoryList = route<{ memory: Memory }>()({
  method: 'POST',
  path: '/v1/db/vectordb/list',
  summary: 'List memories',
  permission: 'read',
  ...memoryOperation('list'),
});
